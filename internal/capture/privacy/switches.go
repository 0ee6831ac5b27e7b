package privacy

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/ignore"
)

// Switches are the settings of what is not recorded.
type Switches struct {
	SkipTools  []string // capture_skip_tools: names; a * stands for any characters
	SkipAgents []string // capture_skip_agents: the same
	Ignore     []string // capture_ignore: patterns as in a .cmemdignore in the uppermost folder; ~/ is the person's home
}

// The keys of Switches in the settings' file; their variables are CMEMD_ and the key in capitals.
const (
	KeySkipTools  = "capture_skip_tools"
	KeySkipAgents = "capture_skip_agents"
	KeyIgnore     = "capture_ignore"
)

// NewRules returns the rules of a home: those of its settings, of the files named .cmemdignore in it and in any folder that
// a session works in or names, and those that always hold.
func NewRules(home string, s Switches) *Rules {
	var text strings.Builder
	for _, p := range s.Ignore {
		text.WriteString(absolute(p) + "\n")
	}
	return &Rules{
		SkipTools: s.SkipTools, SkipAgents: s.SkipAgents, Homes: OwnHomes(home),
		Ignore: ignore.NewTree(ignore.Parse(text.String()), filepath.Join(home, ignore.File)),
	}
}

// absolute is a pattern with the person's home in the place of its ~.
func absolute(pattern string) string {
	negation := ""
	rest, ok := strings.CutPrefix(pattern, "!")
	if ok {
		negation = "!"
	}
	if below, ok := strings.CutPrefix(rest, "~/"); ok {
		if user, err := os.UserHomeDir(); err == nil {
			return negation + filepath.ToSlash(user) + "/" + below
		}
	}
	return pattern
}

// ReadSwitches returns the switches of a home by its file of settings and the environment, as the daemon reads them. Where
// the file cannot be read there are none of it.
func ReadSwitches(home string, getenv func(string) string) (s Switches) {
	path := filepath.Join(home, "config.toml")
	if linked, err := filepath.EvalSymlinks(path); err == nil {
		path = linked
	}
	file, err := durable.ReadBounded(path, maxSettings)
	text := strings.TrimPrefix(string(file), "\ufeff")
	for key, to := range map[string]*[]string{KeySkipTools: &s.SkipTools, KeySkipAgents: &s.SkipAgents, KeyIgnore: &s.Ignore} {
		if err == nil {
			*to = settingList(text, key)
		}
		if v := getenv("CMEMD_" + strings.ToUpper(key)); v != "" {
			*to = splitNames(v)
		}
	}
	return s
}

// maxSettings bounds the file of settings, as the daemon does.
const maxSettings = 1 << 20

// splitNames parts what has commas between.
func splitNames(text string) (names []string) {
	for n := range strings.SplitSeq(text, ",") {
		if n = strings.TrimSpace(n); n != "" {
			names = append(names, n)
		}
	}
	return names
}

// settingList returns the list that a key outside of all tables has in a TOML text: [ "a", 'b' ], over several lines and
// with comments perhaps, or one string with commas in it. What cannot be read there hides no name that stands behind it: what
// is not to be captured would be.
func settingList(text, key string) (list []string) {
	for at := 0; at < len(text); {
		line, _, _ := strings.Cut(text[at:], "\n")
		name, _, ok := strings.Cut(line, "=")
		switch name = strings.TrimSpace(name); {
		case strings.HasPrefix(name, "["):
			return nil
		case ok && strings.Trim(name, `"'`) == key:
			_, value, _ := strings.Cut(text[at:], "=")
			return tomlStrings(value)
		}
		at += len(line) + 1
	}
	return nil
}

// tomlStrings reads the strings of a TOML array, or the one string, that begins a text. In an array it passes over all else.
func tomlStrings(s string) (list []string) {
	depth := 0 // of arrays
	for {
		s = strings.TrimLeft(s, " \t\r\n,")
		text, n := tomlString(s)
		switch {
		case s == "":
			return list
		case n > 0 && depth == 0:
			return splitNames(text)
		case n > 0:
			list = append(list, text)
			s = s[n:]
			continue
		case s[0] == '[':
			depth++
		case s[0] == ']':
			depth--
		case s[0] == '#':
			_, s, _ = strings.Cut(s, "\n")
			continue
		}
		if depth <= 0 {
			return list
		}
		s = s[1:]
	}
}

// tomlString reads the string that begins a text, and returns how long it is written; 0: there is none.
func tomlString(s string) (text string, n int) {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return "", 0
	}
	quote := s[:1]
	if three := strings.Repeat(quote, 3); strings.HasPrefix(s, three) {
		quote = three
	}
	rest := s[len(quote):]
	end := closingQuote(rest, quote)
	if end < 0 {
		return "", 0
	}
	text = rest[:end]
	if len(quote) > 1 {
		text = strings.TrimPrefix(strings.TrimPrefix(text, "\r"), "\n")
	}
	if quote[0] == '"' {
		text = withoutTOMLEscapes(text)
	}
	return text, end + 2*len(quote)
}

// closingQuote returns where the quote is that ends a string; negative: nowhere. Only three quotes reach over the end of a line.
func closingQuote(s, quote string) int {
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], quote):
			return i
		case s[i] == '\\' && quote[0] == '"':
			i++
		case s[i] == '\n' && len(quote) == 1:
			return -1
		}
	}
	return -1
}

// withoutTOMLEscapes is what stands between double quotes. The escapes of TOML are those of Go, and \e; what is neither
// stays as it is written.
func withoutTOMLEscapes(s string) string {
	var text strings.Builder
	for s != "" {
		if rest, ok := strings.CutPrefix(s, `\e`); ok {
			text.WriteByte(0x1b)
			s = rest
			continue
		}
		c, _, rest, err := strconv.UnquoteChar(s, '"')
		if err != nil {
			c, rest = rune(s[0]), s[1:] // a backslash, or a quote between three
		}
		text.WriteRune(c)
		s = rest
	}
	return text.String()
}
