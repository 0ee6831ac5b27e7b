package redact

import "math"

func isDigit(c byte) bool      { return '0' <= c && c <= '9' }
func isLower(c byte) bool      { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool      { return 'A' <= c && c <= 'Z' }
func isLetter(c byte) bool     { return isLower(lower(c)) }
func isAlnum(c byte) bool      { return isLetter(c) || isDigit(c) }
func isLowerDigit(c byte) bool { return isLower(c) || isDigit(c) }
func isUpperDigit(c byte) bool { return isUpper(c) || isDigit(c) }
func isHex(c byte) bool        { return isDigit(c) || 'a' <= lower(c) && lower(c) <= 'f' }
func isHexDash(c byte) bool    { return isHex(c) || c == '-' }
func isWord(c byte) bool       { return isAlnum(c) || c == '_' }
func isToken(c byte) bool      { return isWord(c) || c == '-' }
func isHexPath(c byte) bool    { return isHex(c) || c == '/' || c == ':' }
func isTokenDot(c byte) bool   { return isToken(c) || c == '.' }
func isTokenEq(c byte) bool    { return isToken(c) || c == '=' }
func isTokenSlash(c byte) bool { return isToken(c) || c == '/' }
func isDotted(c byte) bool     { return isWord(c) || c == '.' }
func isWebhook(c byte) bool    { return isTokenSlash(c) || c == '@' }
func isBase64(c byte) bool     { return isToken(c) || c == '+' || c == '/' || c == '=' }
func isBlank(c byte) bool      { return c == ' ' || c == '\t' }
func isSpace(c byte) bool      { return isBlank(c) || c == '\n' || c == '\r' }
func isQuote(c byte) bool      { return c == '"' || c == '\'' || c == '`' }

// holds reports whether a byte of s is in a class.
func holds(s string, in func(byte) bool) bool {
	for i := range len(s) {
		if in(s[i]) {
			return true
		}
	}
	return false
}

// entropyOf is how many bytes are counted: a longer text of the same make has no more bits a byte.
const entropyOf = 256

// entropy is Shannon's, in bits a byte, of the first bytes of s.
func entropy(s string) float64 {
	s = s[:min(len(s), entropyOf)]
	var counts [256]uint16
	for i := range len(s) {
		counts[s[i]]++
	}
	n, bits := float64(len(s)), 0.0
	for i := range len(s) {
		if c := counts[s[i]]; c > 0 {
			p := float64(c) / n
			bits -= p * math.Log2(p)
			counts[s[i]] = 0
		}
	}
	return bits
}

// looksRandom reports whether s looks as if it were drawn by lot: as no word, name, version or line of dashes does. It is asked
// where a prefix has said what s is; see secretive for what has to say so itself.
func looksRandom(s string) bool {
	e := entropy(s)
	if e < 2.5 {
		return false
	}
	return churn(s)*8 >= len(s) || e >= 3.2 && !holds(s, isLower) && len(s) >= 16
}

// secretive is drawn for what stands behind no prefix: it asks for more.
func secretive(s string) bool { return changesOften(s, 5) }

// changesOften is secretive with one of so many characters at which s changes.
func changesOften(s string, every int) bool {
	return holds(s, isDigit) && holds(s, isLetter) && churn(s)*every >= len(s) && entropy(s) >= 3
}

// churn counts where s goes from lower case to upper case, from letters to digits or back: about every second character
// of what is drawn by lot, and seldom in words and names. A capital at the start of a word is none.
func churn(s string) (n int) {
	for i := 1; i < len(s); i++ {
		a, b := s[i-1], s[i]
		switch {
		case isLetter(a) && isDigit(b), isDigit(a) && isLetter(b), isLower(a) && isUpper(b):
			n++
		case isUpper(a) && isLower(b) && i > 1 && isUpper(s[i-2]):
			n++
		}
	}
	return n
}
