package redact

import (
	"strings"
	"unicode/utf8"
)

// What a terminal or a page did to a token hides it: a line that was broken in its middle, a character that nobody sees.

// unhidden is a text without what hides secrets in it.
type unhidden struct {
	text string
	from []int // by byte of text: where it stands in the text as it was
}

// unhide returns s without the characters that nobody sees; ok says that one of them stands right behind what a token is made of.
// Others hide none, and are no reason to look at a text twice.
func unhide(s string) (u unhidden, ok bool) {
	if !hidesInToken(s) {
		return u, false
	}
	var out strings.Builder
	out.Grow(len(s))
	u.from = make([]int, 0, len(s)+1)
	for i := 0; i < len(s); {
		if n := hiddenAt(s, i); n > 0 {
			i += n
			continue
		}
		out.WriteByte(s[i])
		u.from = append(u.from, i)
		i++
	}
	u.text, u.from = out.String(), append(u.from, len(s))
	return u, true
}

// hidesInToken reports whether a character that nobody sees stands right behind what a token is made of.
func hidesInToken(s string) bool {
	signs := []string{"\u00ad", "\xe2\x80", "\xe2\x81", "\ufeff", "\u061c", "\xef\xb8"}
	if strings.Contains(s, `\u`) {
		signs = append(signs, `\u20`, `\u00a`, `\u00A`, `\ufe`, `\uFE`, `\u061`)
	}
	for _, sign := range signs {
		for i := 0; ; i++ {
			next := strings.Index(s[i:], sign)
			if next < 0 {
				break
			}
			if i += next; i > 0 && isTokenDot(s[i-1]) && hiddenAt(s, i) > 0 {
				return true
			}
		}
	}
	return false
}

// hiddenAt is the length of the character at i that nobody sees, as it is or as JSON escapes it; 0 if there is none.
func hiddenAt(s string, i int) int {
	if s[i] >= utf8.RuneSelf {
		if r, n := utf8.DecodeRuneInString(s[i:]); isUnseen(r) {
			return n
		}
		return 0
	}
	if s[i] != '\\' || i+6 > len(s) || s[i+1] != 'u' || i > 0 && s[i-1] == '\\' {
		return 0
	}
	r := rune(0)
	for k := i + 2; k < i+6; k++ {
		d := strings.IndexByte("0123456789abcdef", lower(s[k]))
		if d < 0 {
			return 0
		}
		r = r<<4 | rune(d)
	}
	if isUnseen(r) {
		return 6
	}
	return 0
}

// isUnseen reports whether nobody sees a character: soft hyphen, joiners, marks of direction, selectors of variants.
func isUnseen(r rune) bool {
	return r == 0xad || r == 0xfeff || r == 0x061c || 0x200b <= r && r <= 0x200f || 0x202a <= r && r <= 0x202e || 0x2060 <= r && r <= 0x206f ||
		0xfe00 <= r && r <= 0xfe0f
}

// back puts spans of u.text where they stand in the text as it was.
func (u unhidden) back(spans []Span) []Span {
	for i := range spans {
		spans[i].Start, spans[i].End = u.from[spans[i].Start], u.from[spans[i].End-1]+1
	}
	return spans
}

// wrapColumn is the least width at which a line is taken for one that a terminal broke.
const wrapColumn = 40

// unwrapped returns where the secret ends of which s[start:stop] is the part before the end of a line that was broken: what is
// on the next lines looks drawn by lot as well. Without such an end it is stop.
func (f *finder) unwrapped(start, stop int, class func(byte) bool) int {
	for line := f.lineStart(start); stop-line >= wrapColumn; {
		next := f.lineBreak(stop)
		if next == stop {
			return stop
		}
		end := run(f.s, next, class)
		part := f.s[next:end]
		if end == next || !isRest(part) || f.at(end) == '=' || f.at(end) == ':' {
			return stop
		}
		line, stop = next, end
	}
	return stop
}

// lineStart returns where the line begins that i is in, as far as matters.
func (f *finder) lineStart(i int) int {
	least := max(0, i-wrapColumn)
	for i > least && f.s[i-1] != '\n' && !(f.s[i-1] == 'n' && f.escaped(i)) {
		i--
	}
	return i
}

// lineBreak returns the index behind the line end at i, as it is or as JSON escapes it; i if there is none.
func (f *finder) lineBreak(i int) int {
	for _, sign := range [...]string{"\n", "\r\n", `\n`, `\r\n`, `\\n`} {
		if strings.HasPrefix(f.s[i:], sign) {
			return i + len(sign)
		}
	}
	return i
}

// isRest reports whether a part looks like the rest of what was drawn by lot, and not like a word.
func isRest(part string) bool {
	part = part[:min(len(part), decisiveBytes)]
	if len(part) >= 8 {
		return churn(part)*6 >= len(part)
	}
	return churn(part) > 0 && !isUpper(part[0]) || churn(part) > 1
}
