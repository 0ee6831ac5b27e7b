package agents

import (
	"iter"
	"strings"

	"github.com/cmemd/cmemd/events"
)

// maxMarks is how many rows that one report names are looked up.
const maxMarks = 64

// Marks returns what names rows in an event's texts as injected lines do, each once: ids or their beginnings, and handles with
// the time of their row. The agent may repeat their lines, whichever session was given them.
func Marks(e events.Event) []string {
	var m marks
	switch e := e.(type) {
	case events.PromptSubmitted:
		m.find(e.Text)
	case events.AgentStopped:
		m.find(e.LastMessage)
	case events.AgentSaid:
		m.find(e.Text)
	case events.ContextCompacted:
		m.find(e.Summary)
	case events.ToolUsed:
		m.find(e.Input)
		m.find(e.Output)
	}
	return m.list
}

// marks are names of rows that were found, each once.
type marks struct {
	list []string
	seen map[string]bool
}

func (m *marks) find(text string) {
	for i := range places(text, '-') { // behind the first group of an id
		if at := i - 8; at >= 0 && beginsWord(text, at) {
			m.add(text[at:], leadingID(cutMark(text[at:])))
		}
	}
	for at := range places(text, 'm') {
		if beginsWord(text, at) {
			m.add(text[at:], datedHandle(text, at))
		}
	}
}

// places yields where a byte stands in text.
func places(text string, sign byte) iter.Seq[int] {
	return func(yield func(int) bool) {
		for from := 0; ; {
			i := strings.IndexByte(text[from:], sign)
			if i < 0 || !yield(from+i) {
				return
			}
			from += i + 1
		}
	}
}

func beginsWord(text string, at int) bool { return at == 0 || lower(text[at-1]) == 0 }

// add notes the first n bytes of text; 0 is none.
func (m *marks) add(text string, n int) {
	if n == 0 || len(m.list) == maxMarks || m.seen[text[:n]] {
		return
	}
	if m.seen == nil {
		m.seen = map[string]bool{}
	}
	m.seen[text[:n]] = true
	m.list = append(m.list, text[:n])
}

// cutMark is the beginning of text that may be an id, ended where leadingID wants it.
func cutMark(text string) string {
	end := 0
	for end < len(text) && end < 36 && (isHex(text[end]) || text[end] == '-') {
		end++
	}
	return text[:end]
}

// datedHandle returns the length of the handle at a byte of text, if a time or a date follows, as in lists of memory, or if it ends
// a parenthesis behind a time, as in the heading of a session; 0 if there is none. Code is full of what else would be a handle.
func datedHandle(text string, at int) int {
	n := 1 + countDigits(text[at+1:])
	if n == 1 || n > maxHandle {
		return 0
	}
	rest := text[at+n : min(len(text), at+n+len(" Jan 22, 2006 "))]
	said := strings.TrimLeft(rest, " `")
	dated := len(untimed(rest)) < len(said) || countDigits(said) == 4 && strings.HasPrefix(said[4:], "-")
	timed := at >= len(":04, ") && text[at-len(":04, ")] == ':' && text[at-2:at] == ", "
	if said != rest && dated || timed && strings.HasPrefix(rest, ")") {
		return n
	}
	return 0
}
