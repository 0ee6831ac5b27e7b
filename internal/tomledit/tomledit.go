package tomledit

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Value is a string, a number or a truth value as go-toml writes it.
func Value(v any) string {
	line, err := toml.Marshal(map[string]any{"v": v})
	if err != nil {
		panic(fmt.Sprintf("tomledit: %v cannot be written: %v", v, err)) // none of these
	}
	return strings.TrimSpace(strings.TrimPrefix(string(line), "v ="))
}

// Quote is text as a string of TOML, in double quotes where nothing in it needs to be escaped.
func Quote(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) {
		return `"` + text + `"`
	}
	return Value(text)
}

// newlineOf is how the lines of a text end.
func newlineOf(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}
