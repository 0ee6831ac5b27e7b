// Package fence makes captured text fit to stand inside the fence around memory that an agent is given: it can neither close
// the fence nor hide or rearrange what is read.
package fence

import (
	"strings"
	"unicode"

	"github.com/cmemd/cmemd/internal/harness"
)

// Invisible reports control characters, marks that turn the direction of writing, and tags: what could hide or rearrange what
// is read.
func Invisible(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control) || r == '\uFEFF' || r == unicode.ReplacementChar ||
		r >= 0xE0000 && r <= 0xE007F
}

// Neutral keeps s from opening or closing the fence, whose element has the given name, and the elements in which agents say
// things to the model: the bracket of such a tag becomes one that no parser takes for it. There are as many characters as
// before.
func Neutral(s, name string) string {
	before, rest, found := strings.Cut(s, "<")
	if !found {
		return s
	}
	names := append(harness.Instructions(), name)
	var out strings.Builder
	for ; found; before, rest, found = strings.Cut(rest, "<") {
		out.WriteString(before)
		bracket := "<"
		for _, tag := range names {
			if inner := strings.TrimLeft(rest, "/ \t\n"); len(inner) >= len(tag) && strings.EqualFold(inner[:len(tag)], tag) {
				bracket = "‹"
			}
		}
		out.WriteString(bracket)
	}
	return out.String() + before
}
