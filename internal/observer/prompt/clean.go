package prompt

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cmemd/cmemd/internal/clip"
)

const (
	maxName   = 80  // characters of a tool's or an agent's name
	maxInline = 160 // characters of a text that goes as one line
	maxTitle  = 200 // characters of the title of an earlier observation
)

// clean makes s fit to be sent: valid UTF-8; no control characters but line ends and tabs; no characters that are not
// seen, with which text can be hidden from people or shown in another order; images and other encoded bytes as their size.
// What is no text at all becomes its size.
func clean(s string) string {
	if isBinary(s) {
		return fmt.Sprintf("[binary: %d bytes]", len(s))
	}
	if !clip.IsPlain(s) {
		s = dropUnseen(s)
	}
	return foldBlobs(s)
}

// isBinary reports whether more than one in ten of the characters of s are none, or are controls that text has no use for.
func isBinary(s string) bool {
	odd, all := 0, 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || r < ' ' && !strings.ContainsRune("\n\t\r\f\x1b", r) {
			odd++
		}
		all++
		i += size
	}
	return odd*10 > all
}

// dropUnseen removes what clean promises to remove from text. Runs of bytes that are no UTF-8 become one U+FFFD, and line
// ends \n.
func dropUnseen(s string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "\uFFFD")
	last := ' '
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
		case r == '\r', r == '\u2028', r == '\u2029':
			r = '\n'
		case r == '\u200c', r == '\u200d': // they join letters and emoji; between others they only hide
			if last < utf8.RuneSelf {
				return -1
			}
		case isInvisible(r):
			return -1
		}
		last = r
		return r
	}, s)
}

// isInvisible is for controls, for characters that only format, and for those that stand for variants of nothing.
func isInvisible(r rune) bool {
	if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0xe0100 && r <= 0xe01ef || r == '\u115f' || r == '\u1160' || r == '\u3164' || r == '\uffa0' {
		return true
	}
	return r >= 0xad && unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}
