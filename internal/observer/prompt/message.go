package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/actors/policy"
)

// message is a User as it grows: lines of our own between captured texts.
type message struct {
	redact func(string) string
	parts  []part
}

// part is one of our lines and the captured text below it.
type part struct {
	label  string // of the line, between the brackets: our own words and names that nameOf made safe
	inline string // behind the line: one line of captured text that oneLine made safe
	text   string // below the line
	chars  int    // how many characters of text may be shown
	bytes  int    // how many bytes of it, once the message is fit; below 0: all
}

func (m *message) line(label, text string) {
	m.parts = append(m.parts, part{label: label, inline: m.oneLine(text, maxInline), bytes: -1})
}

// entry adds a line with a text below it. The text is clean, and not yet redacted.
func (m *message) entry(label, text string, chars int) {
	text = strings.TrimRight(m.redact(text), " \t\n")
	m.parts = append(m.parts, part{label: label, text: text, chars: chars, bytes: -1})
}

// field adds an entry if its text says anything.
func (m *message) field(label, text string, chars int) {
	if strings.TrimSpace(text) != "" {
		m.entry(label, text, chars)
	}
}

const (
	markSize = 12 // hex digits: nobody guesses it, and it costs a model a few tokens

	// labelOverhead is what stands around a label in a line of ours: brackets, mark and line ends.
	labelOverhead = len("[[ ]]\n\n") + markSize
)

// fit shortens the longest texts until the message has no more than maxUser bytes, and, where budget is set, no more than
// budget bytes of captured text.
func (m *message) fit(budget int) {
	room, markers := maxUser(), 0
	sizes := make([]int, 0, len(m.parts))
	for _, p := range m.parts {
		room -= labelOverhead + len(p.label) + len(p.inline)
		if n := len(p.shown()); n > 0 {
			sizes = append(sizes, n)
			markers += maxMarker
		}
	}
	if budget > 0 {
		room = min(room, budget)
	}
	if evenly(sizes, room) < 0 {
		return
	}
	if budget <= 0 || room < budget {
		room -= markers
	}
	most := evenly(sizes, max(0, room))
	for i := range m.parts {
		m.parts[i].bytes = most
	}
}

// shown is the text of p within its limits.
func (p part) shown() string { return elide(p.text, p.chars, p.bytes) }

// evenly returns how many bytes each text may have so that all of them together have at most room: those that are
// shorter leave what they do not need to the others. It is below 0 if all fit. It sorts sizes.
func evenly(sizes []int, room int) int {
	slices.Sort(sizes)
	for i, n := range sizes {
		if share := max(0, room) / (len(sizes) - i); n > share {
			return share
		}
		room -= n
	}
	return -1
}

// render is the message with its mark, and reminder behind it. A line of ours is all that holds the mark.
func (m *message) render(reminder string) string {
	shown := make([]string, len(m.parts))
	for i, p := range m.parts {
		shown[i] = p.shown()
	}
	mark := m.mark(shown)
	var b strings.Builder
	b.WriteString("The mark of this message is " + mark + ".\n\n")
	for i, p := range m.parts {
		b.WriteString("[[" + mark + " " + p.label + "]]")
		if p.inline != "" {
			b.WriteString(" " + p.inline)
		}
		b.WriteByte('\n')
		if shown[i] != "" {
			b.WriteString(shown[i])
			b.WriteByte('\n')
		}
	}
	b.WriteString("[[" + mark + " end of data]]\n\n" + reminder + "\n")
	return b.String()
}

// mark is a word that does not occur in the message: the first that a chain of hashes of all of it gives. Whoever wrote a
// part of it cannot know the word, and one who could would not find it used.
func (m *message) mark(shown []string) string { return m.freeMark(m.hash(shown), shown) }

func (m *message) hash(shown []string) [sha256.Size]byte {
	h := sha256.New()
	for i, p := range m.parts {
		for _, s := range []string{p.label, p.inline, shown[i]} {
			h.Write([]byte(s))
			h.Write([]byte{0}) // which no part holds
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// freeMark is the first mark of the chain that begins with sum and does not occur.
func (m *message) freeMark(sum [sha256.Size]byte, shown []string) string {
	for {
		if mark := markFrom(sum); !m.holds(mark, shown) {
			return mark
		}
		sum = sha256.Sum256(sum[:])
	}
}

func markFrom(sum [sha256.Size]byte) string { return hex.EncodeToString(sum[:])[:markSize] }

func (m *message) holds(mark string, shown []string) bool {
	for i, p := range m.parts {
		if strings.Contains(p.label, mark) || strings.Contains(p.inline, mark) || strings.Contains(shown[i], mark) {
			return true
		}
	}
	return false
}

// maxUser is how many bytes User has at most, but for what stands around the data: what a model is asked at once.
func maxUser() int { return policy.ModelLimits().MaxBytes }

// oneLine is s, cleaned and redacted, as one line of at most chars characters.
func (m *message) oneLine(s string, chars int) string {
	s = strings.Join(strings.Fields(m.redact(clean(s))), " ")
	if n := forward(s, chars); n < len(s) {
		return s[:n] + "..."
	}
	return s
}

// nameOf is a name as it may stand in a line of ours: one line without brackets.
func (m *message) nameOf(s string) string {
	return strings.NewReplacer("[", "(", "]", ")").Replace(m.oneLine(s, maxName))
}
