package terminal

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Visible returns captured text as a terminal may be given it: whatever would move the cursor, colour, hide or reorder
// what is shown is written as an escape such as \x1b or \u202e instead. Line breaks and tabs stay. The result is valid
// UTF-8, and Visible of it is itself.
func Visible(s string) string { return escape(s, true) }

// VisibleLine is Visible for text that must stay on one line: line breaks and tabs become one space each.
func VisibleLine(s string) string { return escape(s, false) }

func escape(s string, lines bool) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	s = strings.ReplaceAll(s, "\r\n", "\n")
	for i, r := range s {
		switch {
		case r == '\n' || r == '\t':
			if !lines {
				r = ' '
			}
			b.WriteRune(r)
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !deceives(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xFFFF:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

// isPlain reports whether s is printable ASCII, which most text is.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// deceives reports whether r makes a terminal show something else than what is there: control characters, the marks,
// embeddings, overrides and isolates of bidirectional text, breaks that only some see, and what has no width but may
// carry a message. The two joiners stay, because scripts and emoji need them.
func deceives(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r < 0xa0: // C0, DEL, C1
		return true
	case r == 0x061c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	case r == 0x00ad, r == 0x180e, r == 0x200b, r == 0x2028, r == 0x2029, r >= 0x2060 && r <= 0x2065,
		r >= 0x206a && r <= 0x206f, r == 0xfeff, r >= 0xfff9 && r <= 0xfffb:
		return true
	}
	return r >= 0xe0000 && r <= 0xe0fff
}
