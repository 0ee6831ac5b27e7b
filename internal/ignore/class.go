package ignore

import "strings"

// matchClass matches a byte with the class in brackets that begins a pattern, and returns the length of the class. A class
// that is not closed matches nothing.
func matchClass(pattern string, c byte) (size int, ok bool) {
	i := 1
	negated := i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^')
	if negated {
		i++
	}
	for first := true; i < len(pattern); first = false {
		if pattern[i] == ']' && !first {
			return i + 1, ok != negated
		}
		if strings.HasPrefix(pattern[i:], "[:") {
			name, _, closed := strings.Cut(pattern[i+2:], "]")
			if !closed {
				return 0, false
			}
			if name, named := strings.CutSuffix(name, ":"); named {
				in, known := isOf(name, c)
				if !known {
					return 0, false
				}
				ok = ok || in
				i += len("[:") + len(name) + len(":]")
				continue
			}
		}
		low, n := classByte(pattern[i:])
		if n == 0 {
			return 0, false
		}
		i += n
		if high, n := rangeEnd(pattern[i:]); n > 0 {
			ok = ok || low <= c && c <= high
			i += n
			continue
		}
		ok = ok || low == c
	}
	return 0, false
}

// classByte is the byte that begins s inside a class, and how long it is written.
func classByte(s string) (c byte, n int) {
	if s[0] != '\\' {
		return s[0], 1
	}
	if len(s) == 1 {
		return 0, 0
	}
	return s[1], 2
}

// rangeEnd is the last byte of a range whose dash begins s; n is 0 where there is none.
func rangeEnd(s string) (c byte, n int) {
	if len(s) < 2 || s[0] != '-' || s[1] == ']' {
		return 0, 0
	}
	c, n = classByte(s[1:])
	if n == 0 {
		return 0, 0
	}
	return c, n + 1
}

// isOf reports whether c is of a class with a name, and whether there is such a class.
func isOf(name string, c byte) (in, known bool) {
	lower, upper, digit := 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9'
	switch name {
	case "alpha":
		return lower || upper, true
	case "alnum":
		return lower || upper || digit, true
	case "digit":
		return digit, true
	case "lower":
		return lower, true
	case "upper":
		return upper, true
	case "xdigit":
		return digit || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F', true
	case "space":
		return c == ' ' || '\t' <= c && c <= '\r', true
	case "blank":
		return c == ' ' || c == '\t', true
	case "cntrl":
		return c < ' ' || c == 0x7f, true
	case "graph":
		return c > ' ' && c < 0x7f, true
	case "print":
		return c >= ' ' && c < 0x7f, true
	case "punct":
		return c > ' ' && c < 0x7f && !(lower || upper || digit), true
	}
	return false, false
}
