package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cmemd/cmemd/internal/number"
)

// plainText is s with whatever would hide or reorder what is shown written as an escape, on one line, and cut after limit
// characters.
func plainText(s string, limit int) string {
	if len(s) > limit*utf8.UTFMax {
		s = s[:limit*utf8.UTFMax] // no more can be shown; a rune that is cut is beyond the limit
	}
	var b strings.Builder
	shown := 0
	for _, r := range s {
		if shown == limit {
			return b.String() + "…"
		}
		shown++
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		case r != '\u200d' && r != '\u200c' && (unicode.Is(unicode.C, r) || r == '\u2028' || r == '\u2029'):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// counted is n and its word.
func counted(n int64, one string) string {
	return number.Grouped(n) + " " + number.Noun(n, one)
}
