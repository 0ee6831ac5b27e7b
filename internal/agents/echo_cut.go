package agents

import (
	"strings"
	"unicode/utf8"

	"github.com/cmemd/cmemd/internal/jsonscan"
)

// cutter goes twice through the texts of one report: to weigh whether memory is repeated there, and to cut.
type cutter struct {
	injected *InjectedText
	words    *words

	marked   bool // words that only memory has
	together bool // lines beside each other that are more than any work says by chance
	long     map[uint64]bool
	since    int // letters behind the last long line
	run      int // letters of the lines that stand beside each other
	lines    int // that were cut
}

func newCutter(k *InjectedText) *cutter {
	w, _ := k.pool.Get().(*words)
	if w == nil {
		w = &words{}
	}
	return &cutter{injected: k, words: w}
}

// keptWords is how many letters' memory is kept for the next report: most have less.
const keptWords = 64 << 10

// end lets the memory be used again.
func (c *cutter) end() {
	if cap(c.words.letters) <= keptWords {
		c.injected.pool.Put(c.words)
	}
	c.words = nil
}

func (c *cutter) find(text string, short []int) []match {
	c.words.read(text)
	f := finder{injected: c.injected, text: text, words: c.words, short: short}
	return f.run()
}

// weigh looks for memory in a text, JSON or not.
func (c *cutter) weigh(text string) {
	last := 0
	for _, m := range c.find(text, nil) {
		c.marked = c.marked || m.marked
		size := c.words.size(m.first, m.next)
		if size < longLine || m.hash == 0 {
			continue
		}
		c.since += c.words.size(last, m.first)
		last = m.next
		c.count(m.hash, size)
	}
	c.since += c.words.size(last, len(c.words.list))
}

// count notes a long line. One that was seen before says nothing more.
func (c *cutter) count(hash uint64, size int) {
	if c.since > maxLettersBetween {
		c.run = 0
	}
	c.since = 0
	if c.long[hash] {
		return
	}
	if c.long == nil {
		c.long = map[uint64]bool{}
	}
	c.long[hash] = true
	if size >= longText {
		c.run += size
	}
	c.together = c.together || c.run >= 2*longText && c.run > size
}

// repeats reports whether memory is repeated in what was weighed.
func (c *cutter) repeats() bool { return c.marked || c.together || len(c.long) >= enoughLines }

// cut returns text without what repeats memory, and without what is left around that and says nothing by itself.
func (c *cutter) cut(text string) string {
	if !c.repeats() {
		return text
	}
	var short []int
	if c.marked {
		short = beginnings(text)
	}
	found := c.find(text, short)
	if len(found) == 0 && !c.marked {
		return text
	}
	c.lines += len(found)
	var out strings.Builder
	at := 0
	for line := range strings.Lines(text) {
		for len(found) > 0 && found[0].to <= at {
			found = found[1:]
		}
		out.WriteString(c.cutLine(line, at, found))
		at += len(line)
	}
	return out.String()
}

// cutLine is a line that begins at a byte of the text, without what was found in it.
func (c *cutter) cutLine(line string, at int, found []match) string {
	if !c.marked && (len(found) == 0 || found[0].from >= at+len(line)) {
		return line
	}
	var out strings.Builder
	from := at
	for piece, end := range piecesOf(line) {
		for len(found) > 0 && found[0].to <= at {
			found = found[1:]
		}
		rest, changed := c.cutPiece(piece, at, found)
		out.WriteString(rest)
		if !changed || rest != "" || end == "" || end[len(end)-1] != 'n' {
			out.WriteString(end)
		}
		at += len(piece) + len(end)
	}
	if out.Len() == at-from {
		return line
	}
	if rest := out.String(); !isScrap(rest) && !saysNothing(strings.TrimSpace(rest), "") {
		return rest
	}
	return ""
}

// cutPiece is a piece that begins at a byte of the text, without what was found in it; nothing if only scraps are left.
func (c *cutter) cutPiece(piece string, at int, found []match) (rest string, changed bool) {
	if len(found) == 0 || found[0].from >= at+len(piece) {
		if c.marked && isDated(undecorated(piece)) {
			c.lines++
			return "", true
		}
		return piece, false
	}
	var out strings.Builder
	done := 0
	for _, m := range found {
		if m.from >= at+len(piece) {
			break
		}
		if from := m.from - at; from > done {
			out.WriteString(piece[done:from])
		}
		done = min(m.to-at, len(piece))
	}
	out.WriteString(piece[done:])
	if rest = out.String(); isScrap(rest) {
		return "", true
	}
	return rest, true
}

// wordsAround is how many words may stand around what was cut that go with it: "docs/notes.md:7:", "yes |", "Remember:".
const wordsAround = 2

// isScrap reports whether what is left of a text that was cut says nothing by itself.
func isScrap(s string) bool {
	n := 0
	for field := range strings.FieldsFuncSeq(s, isGap) {
		n += weightOf(field)
		if n > wordsAround {
			return false
		}
	}
	return true
}

func isGap(r rune) bool { return r <= ' ' || r == '"' || r == ',' || r == '|' || r == '│' }

// weightOf is how many words a field is: one, none without letters, or as many as it has signs of scripts without blanks.
func weightOf(field string) int {
	n, has := 0, false
	for _, r := range field {
		switch {
		case r >= firstUnspacedRune && r != utf8.RuneError:
			n++
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', r >= 0xC0:
			has = true
		}
	}
	if has && n == 0 {
		return 1
	}
	return n
}

// beginnings are the bytes of a text where its pieces begin to say something, behind what decorates them or says where they were
// found, in their order.
func beginnings(text string) []int {
	out := []int{}
	at := 0
	for piece, end := range piecesOf(text) {
		n := leading(piece)
		out = append(out, at+n)
		if place := located(piece[n:]); place > 0 {
			n += place
			out = append(out, at+n+leading(piece[n:]))
		}
		at += len(piece) + len(end)
	}
	return out
}

// cutJSON cuts the strings of a JSON text, and any other text as it is.
func (c *cutter) cutJSON(text string) string {
	if !c.repeats() {
		return text
	}
	raw, ok := jsonOf(text)
	if !ok {
		return c.cut(text)
	}
	var out []byte
	from := 0
	eachString(raw, func(start, end int, key bool) {
		if key {
			return
		}
		s := stringOf(raw[start:end])
		if kept := c.cut(s); kept != s {
			out = jsonscan.AppendQuoted(append(out, raw[from:start]...), kept)
			from = end
		}
	})
	return string(append(out, raw[from:]...))
}
