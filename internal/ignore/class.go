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

// classes are the classes that have a name: the first and the last byte of each of their ranges.
var classes = map[string]string{
	"alpha":  "azAZ",
	"alnum":  "azAZ09",
	"digit":  "09",
	"lower":  "az",
	"upper":  "AZ",
	"xdigit": "09afAF",
	"space":  "  \t\r",
	"blank":  "  \t\t",
	"cntrl":  "\x00\x1f\x7f\x7f",
	"graph":  "!~",
	"print":  " ~",
	"punct":  "!/:@[`{~",
}

// isOf reports whether c is of a class with a name, and whether there is such a class.
func isOf(name string, c byte) (in, known bool) {
	ranges, known := classes[name]
	for i := 0; i < len(ranges); i += 2 {
		in = in || ranges[i] <= c && c <= ranges[i+1]
	}
	return in, known
}
