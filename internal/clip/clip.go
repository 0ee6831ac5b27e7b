package clip

import "unicode/utf8"

// Head is the beginning of s: at most n bytes, whole characters.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
