package mcp

import (
	"strings"
	"time"
	"unicode"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
)

const (
	maxTitle = 140 // characters of a title in a list
	maxWords = 80  // characters of what a caller gave, where it is told back
)

// ellipsis stands where text was cut.
const ellipsis = "…"

// oneLine is captured text on one line of at most limit characters, fit to stand inside the fence.
func oneLine(s string, limit int) string {
	var b strings.Builder
	space, n := false, 0
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case invisible(r):
			continue
		}
		if n++; n > limit {
			return harmless(b.String()) + ellipsis
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return harmless(b.String())
}

// block is captured text with its line ends, fit to stand inside the fence.
func block(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\u2028' || r == '\u2029':
			return '\n'
		case invisible(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	return harmless(strings.TrimSpace(s))
}

// invisible reports control characters, marks that turn the direction of writing, and tags: what could hide or rearrange
// what is read.
func invisible(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control) || r == '\uFEFF' || r == unicode.ReplacementChar ||
		r >= 0xE0000 && r <= 0xE007F
}

// harmless keeps text from opening or closing the fence, and the elements in which agents say things to the model: the
// bracket of such a tag becomes one that no parser takes for it.
func harmless(s string) string {
	if !strings.Contains(s, "<") {
		return s
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i+1:]
		if isGuarded(strings.TrimLeft(s, "/ \t\n")) {
			b.WriteString("‹")
			continue
		}
		b.WriteByte('<')
	}
}

// isGuarded reports whether name begins like that of a tag which captured text must not have.
func isGuarded(name string) bool {
	for _, tag := range []string{strings.Trim(agents.ContextOpen, "<>"), "system-reminder", "system-instruction", "system_instruction"} {
		if len(name) >= len(tag) && strings.EqualFold(name[:len(tag)], tag) {
			return true
		}
	}
	return false
}

// told is what a caller gave, as our own words may tell it back.
func told(s string) string { return `"` + strings.ReplaceAll(oneLine(s, maxWords), `"`, "'") + `"` }

// shortID is the beginning of an id that tells it apart from others: the millisecond, and what follows it.
func shortID(id events.ID) string { return id.String()[:len("01a1fa47-2048-7378")] }

// moment is a time as lists show it; timeOf reads it.
func moment(t time.Time) string {
	if t.IsZero() {
		return "?"
	}
	return t.UTC().Format("2006-01-02T15:04Z")
}
