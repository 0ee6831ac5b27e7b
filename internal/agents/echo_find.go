package agents

import (
	"hash/maphash"
	"strings"
)

// match is a stretch of a text that repeats a line of memory.
type match struct {
	from, to    int // bytes of the text
	first, next int // its words: from first to before next, the id's left out
	hash        uint64
	marked      bool // only memory has it: the id of a row before it, or the notice
}

// finder goes through one text. Words stand beside each other once, so that it takes linear time: at each it looks up a bounded
// number of bounded stretches.
type finder struct {
	injected *InjectedText
	text     string
	words    *words
	short    []int // bytes where a piece begins to say something; nil: short lines are not looked for, but behind ids
	found    []match
}

// run finds all matches, in their order; none overlaps another.
func (f *finder) run() []match {
	for i := 0; i < len(f.words.list); {
		if f.short == nil && f.isCommon(f.words.list[i]) {
			i++
			continue
		}
		m, ok := f.at(i)
		if !ok {
			i++
			continue
		}
		f.found = append(f.found, m)
		i = max(m.next, i+1)
	}
	return f.found
}

// isCommon reports whether nothing that is looked for in every text begins with a word; nearly always that is easily seen.
func (f *finder) isCommon(w word) bool {
	if c := f.text[w.start]; c == ContextTitle[0] || c == lastSession[0] || f.beginsID(w) {
		return false
	}
	at, letters := int(w.letter), f.words.letters
	return at+longLine > len(letters) || !f.injected.mayBegin(letters[at:])
}

// at finds what repeats memory from word i on.
func (f *finder) at(i int) (match, bool) {
	start := int(f.words.list[i].start)
	if n := noticeAt(f.text[start:]); n > 0 {
		return match{from: start, to: start + n, first: i, next: f.words.from(start + n), marked: true}, true
	}
	if f.beginsID(f.words.list[i]) {
		if m, ok := f.row(i); ok {
			return m, true
		}
	}
	if m, ok := f.long(i); ok {
		return m, true
	}
	return f.phrase(i)
}

// beginsID reports whether a row's id or handle may begin with a word.
func (f *finder) beginsID(w word) bool {
	return w.end-w.start == 8 && int(w.end) < len(f.text) && f.text[w.end] == '-' || leadingHandle(f.text[w.start:w.end]) > 0
}

// row finds a line behind its row's id or handle, which begins with word i.
func (f *finder) row(i int) (match, bool) {
	start := int(f.words.list[i].start)
	n := leadingID(f.text[start:min(len(f.text), start+37)])
	if n == 0 {
		return match{}, false
	}
	rest := f.text[start+n:]
	first := f.words.from(len(f.text) - len(untimed(rest)))
	if first == len(f.words.list) {
		return match{}, false
	}
	m, ok := f.long(first)
	if !ok {
		m, ok = f.longestShort(first)
	}
	m.from, m.marked = start, true
	return m, ok
}

// long finds the longest of the long lines that begins with word i.
func (f *finder) long(i int) (match, bool) {
	at, letters := int(f.words.list[i].letter), f.words.letters
	if at+longLine > len(letters) || !f.injected.mayBegin(letters[at:]) {
		return match{}, false
	}
	for _, size := range f.injected.headLengths[maphash.Bytes(f.injected.seed, letters[at:at+headSize])] {
		if m, ok := f.line(i, at+size); ok {
			return m, true
		}
	}
	return match{}, false
}

// line reports whether the words from i on, whose letters are those up to end, are a line.
func (f *finder) line(i, end int) (match, bool) {
	next, ok := f.words.wordAfter(end)
	if !ok {
		return match{}, false
	}
	h := maphash.Bytes(f.injected.seed, f.words.letters[f.words.list[i].letter:end])
	if _, ok := f.injected.lines[h]; !ok {
		return match{}, false
	}
	return match{from: int(f.words.list[i].start), to: int(f.words.list[next-1].end), first: i, next: next, hash: h}, true
}

// longestShort finds the longest of the lines that are not long and begin with word i.
func (f *finder) longestShort(i int) (best match, found bool) {
	for next := i + 1; next <= len(f.words.list) && f.words.size(i, next) < longLine; next++ {
		if m, ok := f.line(i, f.words.letterAt(next)); ok {
			best, found = m, true
		}
	}
	return best, found
}

// phrase finds a line that is not long where it is all that stands there: a piece of the text begins with it, or it follows
// what was found, and nothing that belongs to it follows.
func (f *finder) phrase(i int) (match, bool) {
	if f.short == nil {
		return match{}, false
	}
	start := int(f.words.list[i].start)
	for len(f.short) > 0 && f.short[0] < start {
		f.short = f.short[1:]
	}
	begins := len(f.short) > 0 && f.short[0] == start
	chained := len(f.found) > 0 && f.found[len(f.found)-1].next == i
	if !begins && !chained {
		return match{}, false
	}
	m, ok := f.longestShort(i)
	if !ok || !ends(f.text[m.to:]) && (!chained || f.words.size(m.first, m.next) < headSize/2) {
		return match{}, false
	}
	return m, true
}

// ends reports whether what was said ends before s: a piece of a text ends there, or a mark of another line follows.
func ends(s string) bool {
	s = strings.TrimLeft(s, " \t\r.,;:!?`'*_)]}…")
	if s == "" || strings.IndexByte("\n\"|#-+>•", s[0]) >= 0 || strings.HasPrefix(s, "│") {
		return true
	}
	n := slashes(s)
	return n > 0 && n < len(s) && (s[n] == 'n' || s[n] == '"')
}
