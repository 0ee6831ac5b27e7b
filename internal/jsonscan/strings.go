package jsonscan

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Unquote returns the text of a JSON string that a Scanner has passed. Half a surrogate pair becomes U+FFFD; bytes that
// are not UTF-8 stay as they are. What has no escape sequence is not copied from a string.
func Unquote[T string | []byte](raw T) string {
	raw = raw[1 : len(raw)-1]
	if indexByte(raw, '\\') < 0 {
		return string(raw)
	}
	out, _ := AppendUnquoted(make([]byte, 0, len(raw)), raw)
	return string(out)
}

// Text is Unquote as encoding/json does it: each byte that is not UTF-8 becomes U+FFFD.
func Text(raw []byte) string {
	s := Unquote(raw)
	if !utf8.ValidString(s) {
		return string([]rune(s))
	}
	return s
}

// aliasedText is Text without a copy where raw has the text as it is.
func aliasedText(raw []byte) []byte {
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return inner
	}
	return []byte(Text(raw))
}

// AppendUnquoted appends the text of what stands between the quotes of a JSON string, as Unquote returns it. It stops where a
// backslash begins no escape sequence, and returns what is left from there on.
func AppendUnquoted[T string | []byte](dst []byte, inner T) (out []byte, rest T) {
	for {
		i := indexByte(inner, '\\')
		if i < 0 {
			return append(dst, inner...), inner[len(inner):]
		}
		dst, inner = append(dst, inner[:i]...), inner[i:]
		if escapeLength(inner) == 0 {
			return dst, inner
		}
		r, n := unescape(inner)
		dst, inner = utf8.AppendRune(dst, r), inner[n:]
	}
}

// unescape decodes the escape sequence, or the two of a surrogate pair, that start b.
func unescape[T string | []byte](b T) (rune, int) {
	switch b[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
	default:
		return rune(b[1]), 2
	}
	r, _ := CodeUnit(b)
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	low, _ := CodeUnit(b[6:])
	if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
		return pair, 12
	}
	return utf8.RuneError, 6
}

// CodeUnit reads the escape sequence of the form \uXXXX that starts b; false: there is none.
func CodeUnit[T string | []byte](b T) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var r rune
	for i := 2; i < 6; i++ {
		c := b[i]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// AppendQuoted appends s as a JSON string. Only what must be escaped is, so it is never longer than the string that s
// was decoded from.
func AppendQuoted(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// escapeLength measures the escape sequence that starts b; 0 if it is not one.
func escapeLength[T string | []byte](b T) int {
	if len(b) < 2 {
		return 0
	}
	if b[1] != 'u' {
		if strings.IndexByte(`"\/bfnrt`, b[1]) < 0 {
			return 0
		}
		return 2
	}
	if _, ok := CodeUnit(b); !ok {
		return 0
	}
	return 6
}

// indexByte is the index of the first c in a text; -1: there is none.
func indexByte[T string | []byte](text T, c byte) int {
	if b, ok := any(text).([]byte); ok {
		return bytes.IndexByte(b, c)
	}
	return strings.IndexByte(string(text), c)
}

// WholeNumber reads a number of 0 or more that needs no more than an int; what is none counts as -1.
func WholeNumber(value []byte) int {
	n, err := strconv.Atoi(string(value))
	if err != nil || n < 0 {
		return -1
	}
	return n
}
