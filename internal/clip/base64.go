package clip

// Base64LeftOut stands, with how many bytes it had, where base64 was left out of a text that was captured.
const Base64LeftOut = "[cmemd: %d bytes of base64 left out]"

// IsBase64 reports whether c may stand in base64, be it for URLs, padding included.
func IsBase64(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '+' || c == '/' || c == '=' || c == '-' || c == '_'
}

// Base64End is the first index from i on at which s has no base64.
func Base64End(s string, i int) int {
	for i < len(s) && IsBase64(s[i]) {
		i++
	}
	return i
}

// IsMixed reports whether s holds upper case, lower case and digits, as encoded bytes do. Rulers and long words do not.
func IsMixed(s string) bool {
	var upper, lower, digit bool
	for i := range len(s) {
		c := s[i]
		upper = upper || 'A' <= c && c <= 'Z'
		lower = lower || 'a' <= c && c <= 'z'
		digit = digit || '0' <= c && c <= '9'
		if upper && lower && digit {
			return true
		}
	}
	return false
}
