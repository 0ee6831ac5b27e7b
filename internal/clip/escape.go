package clip

import "strings"

// IsPlain reports whether s is ASCII that is seen, blanks, line ends and tabs: nothing of it is for terminals alone.
func IsPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// EscapeLength measures the escape sequence of a terminal that starts s, an escape character. One that is not closed ends before
// the next escape character, so that no text is looked at twice.
func EscapeLength(s string) int {
	if len(s) < 2 {
		return 1
	}
	switch s[1] {
	case '[': // control sequence: parameters, then one final byte
		i := 2
		for i < len(s) && s[i] >= 0x20 && s[i] < 0x40 {
			i++
		}
		if i < len(s) && s[i] >= 0x40 && s[i] < 0x7f {
			i++
		}
		return i
	case ']', 'P', '^', '_': // a string, ended by BEL or ESC \
		i := strings.IndexAny(s[2:], "\a\x1b")
		switch {
		case i < 0:
			return 2
		case s[2+i] == '\a':
			return 2 + i + 1
		case strings.HasPrefix(s[2+i:], "\x1b\\"):
			return 2 + i + 2
		}
		return 2
	}
	i := 1 // others: intermediate bytes, as those that choose a set of characters have, then one final byte
	for i < len(s) && s[i] >= 0x20 && s[i] < 0x30 {
		i++
	}
	if i < len(s) && s[i] >= 0x30 && s[i] < 0x7f {
		i++
	}
	return i
}
