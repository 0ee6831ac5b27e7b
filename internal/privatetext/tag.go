package privatetext

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tagKind byte

const (
	noTag tagKind = iota
	openTag
	closeTag
	emptyTag
)

const tagName = "private"

// A spelling is how the tags are written that begin private text.
type spelling byte

const (
	plain   spelling = iota // as they are
	either                  // as they are, or with an escape of JSON, written once or several times, or of HTML
	escaped                 // with such an escape
)

// mayBeEscaped reports whether a text could hold a tag, or the end of one, that is written with escapes.
func mayBeEscaped(s string) bool {
	return strings.IndexByte(s, '&') >= 0 || strings.IndexByte(s, '\\') >= 0
}

// nextTag finds the next private tag at or after from: it is s[at:end]. An opening tag whose > is missing reaches to
// the end of s; the first > ends a tag even inside a quoted attribute, because what follows is private then, too.
func (sp spelling) nextTag(s string, from int) (at, end int, kind tagKind) {
	for {
		i := sp.indexBracket(s[from:])
		if i < 0 {
			return 0, 0, noTag
		}
		at = from + i
		t := reader{s: s, pos: at, spelling: sp}
		if !t.take('<') {
			t.skip()
			from = t.pos
			continue
		}
		from = t.pos
		kind = t.tag()
		if kind == closeTag || kind != noTag && (sp != escaped || strings.ContainsAny(s[at:t.pos], `\&`)) {
			return at, t.pos, kind
		}
	}
}

// indexBracket is where a bracket may begin that opens a tag.
func (sp spelling) indexBracket(s string) int {
	if sp == plain {
		return strings.IndexByte(s, '<')
	}
	return strings.IndexAny(s, `<&\`)
}

// A reader goes through one tag. Its methods take what they name and report whether it was there; else they take nothing.
type reader struct {
	spelling
	s   string
	pos int
}

// tag takes a tag behind its bracket.
func (t *reader) tag() tagKind {
	start := t.pos
	closing := t.take('/')
	if !t.name() {
		t.pos = start
		return noTag
	}
	switch {
	case closing && t.closed():
		return closeTag
	case !closing && t.opened():
		if t.endsEmpty(start) {
			return emptyTag
		}
		return openTag
	}
	t.pos = start
	return noTag
}

// name takes the tag's name.
func (t *reader) name() bool {
	for i := range len(tagName) {
		if !t.take(tagName[i]) {
			return false
		}
	}
	return true
}

// closed takes the rest of a closing tag: white space and its >.
func (t *reader) closed() bool {
	for t.space() {
	}
	return t.take('>')
}

// opened takes the rest of an opening tag: what follows the name, up to its > or the end of the text.
func (t *reader) opened() bool {
	if after := *t; t.pos < len(t.s) && !after.take('>') && !after.take('/') && !after.space() {
		return false
	}
	for t.pos < len(t.s) && !t.take('>') {
		t.skip()
	}
	return true
}

// endsEmpty reports whether the tag that was taken since start ends with />.
func (t *reader) endsEmpty(start int) bool {
	tag := t.s[start:t.pos]
	slash := strings.LastIndexByte(tag, '/')
	if slash < 0 {
		return false
	}
	rest := reader{s: t.s[:t.pos], pos: start + slash, spelling: t.spelling}
	return rest.take('/') && rest.take('>') && rest.pos == t.pos
}

// take takes a character of a tag, letters in either case, with the invisible characters before it.
func (t *reader) take(c byte) bool {
	at := t.pos
	for at < len(t.s) {
		r, n := t.character(at)
		switch {
		case r == rune(c) || r < utf8.RuneSelf && r|0x20 == rune(c) && 'a' <= c && c <= 'z':
			t.pos = at + n
			return true
		case !isInvisible(r):
			return false
		}
		at += n
	}
	return false
}

// skip goes behind the character that is not the one to take, and what is invisible before it: whatever may be taken from inside of
// these, take has found from before them.
func (t *reader) skip() {
	for t.pos < len(t.s) {
		r, n := t.character(t.pos)
		t.pos += n
		if !isInvisible(r) {
			return
		}
	}
}

// space takes one character of white space.
func (t *reader) space() bool {
	if t.pos == len(t.s) {
		return false
	}
	r, n := t.character(t.pos)
	if r >= utf8.RuneSelf || strings.IndexByte(" \t\r\n\f", byte(r)) < 0 {
		return false
	}
	t.pos += n
	return true
}

// character decodes what stands at a place, and says how long it is written.
func (t *reader) character(at int) (r rune, n int) {
	if t.s[at] < utf8.RuneSelf && (t.spelling == plain || t.s[at] != '\\' && t.s[at] != '&') {
		return rune(t.s[at]), 1
	}
	if t.spelling != plain {
		if r, n = escapeAt(t.s[at:]); n > 0 {
			return r, n
		}
	}
	return utf8.DecodeRuneInString(t.s[at:])
}

// escapeAt decodes an escape of JSON, written once or several times, or of HTML that stands for part of a tag. Backslashes that begin no
// such escape are one character. For what else is no escape, n is 0.
func escapeAt(s string) (r rune, n int) {
	if s[0] == '&' {
		return entityAt(s)
	}
	rest := strings.TrimLeft(s, `\`)
	slashes := len(s) - len(rest)
	switch {
	case slashes == 0:
		return 0, 0
	case strings.HasPrefix(rest, "/"):
		return '/', slashes + 1
	case len(rest) >= 5 && rest[0] == 'u':
		if code, err := strconv.ParseUint(rest[1:5], 16, 16); err == nil {
			return rune(code), slashes + 5
		}
	}
	return '\\', slashes
}

// maxEntity is how long a reference of HTML to a character is looked at, in bytes: the largest has ten, and zeros may precede its digits.
const maxEntity = 16

// entityAt decodes a reference of HTML: by name what stands for a bracket, and by its number any character.
func entityAt(s string) (r rune, n int) {
	name, _, whole := strings.Cut(s[1:min(len(s), maxEntity)], ";")
	n = len(name) + 2
	number, numbered := strings.CutPrefix(name, "#")
	switch {
	case !whole:
	case strings.EqualFold(name, "lt"):
		return '<', n
	case strings.EqualFold(name, "gt"):
		return '>', n
	case numbered && number != "":
		base := 10
		if number[0]|0x20 == 'x' {
			number, base = number[1:], 16
		}
		if code, err := strconv.ParseUint(number, base, 21); err == nil {
			return rune(code), n
		}
	}
	return 0, 0
}

// isInvisible reports whether a character is one that nobody sees, so that a tag with it looks like one without.
func isInvisible(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return isControl(byte(r))
	case r == utf8.RuneError:
		return false
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

func isControl(c byte) bool {
	return c < ' ' && c != '\n' && c != '\t' && c != '\r' && c != '\f' || c == 0x7f
}
