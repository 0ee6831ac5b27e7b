package jsonscan

import (
	"strings"
	"unicode/utf8"
)

const whiteSpace = " \t\r\n"

// CutMembers yields the names and raw values of the object that text begins with, in order; none if it is no object. Text may be
// cut off anywhere, and so may its last value be; a name that is cut off is not yielded. Behind the last name that is asked for
// nothing is read, unless its value is asked for.
func CutMembers(text string, yield func(name string, value func() string) bool) {
	var value string
	read := func() string {
		if value == "" {
			value = cutValue(text)
		}
		return value
	}
	text = strings.TrimLeft(text, whiteSpace)
	if !strings.HasPrefix(text, "{") {
		return
	}
	for text = text[1:]; ; {
		text = strings.TrimLeft(text, whiteSpace+",")
		if !strings.HasPrefix(text, `"`) {
			return
		}
		end := StringEnd(text)
		behind, ok := strings.CutPrefix(strings.TrimLeft(text[end:], whiteSpace), ":")
		if end == 0 || !ok {
			return
		}
		name := Unquote(text[:end])
		text, value = strings.TrimLeft(behind, whiteSpace), ""
		if !yield(name, read) {
			return
		}
		text = text[len(read()):]
	}
}

// CutElements yields the raw values of the list that text begins with, in order; none if it is no list. Text may be cut off
// anywhere, and so may its last value be.
func CutElements(text string, yield func(value string) bool) {
	text = strings.TrimLeft(text, whiteSpace)
	if !strings.HasPrefix(text, "[") {
		return
	}
	for text = text[1:]; ; {
		text = strings.TrimLeft(text, whiteSpace+",")
		value := cutValue(text)
		if value == "" || !yield(value) {
			return
		}
		text = text[len(value):]
	}
}

// cutValue is the value that text begins with, or what is left of it; empty: none begins there.
func cutValue(text string) string {
	end := ValueEnd(text)
	if end == 0 && text != "" && strings.IndexByte(",]}", text[0]) < 0 {
		end = len(text)
	}
	return text[:end]
}

// CutText returns the text of a value that CutMembers or CutElements yielded, if it is a string, as UnquoteCut does; whole reports
// that it is not cut off.
func CutText(value string) (text string, whole bool) {
	if !strings.HasPrefix(value, `"`) {
		return "", false
	}
	if n := StringEnd(value); n > 0 {
		return UnquoteCut(value[1 : n-1]), true
	}
	return UnquoteCut(value[1:]), false
}

// UnquoteCut is Text of what stands between the quotes of a JSON string that may be cut off. A backslash that begins no escape
// sequence stays, but for the last byte.
func UnquoteCut(inner string) string {
	if !utf8.ValidString(inner) {
		inner = string([]rune(inner))
	}
	if strings.IndexByte(inner, '\\') < 0 {
		return inner
	}
	out, rest := AppendUnquoted(make([]byte, 0, len(inner)), inner)
	for len(rest) > 1 {
		out, rest = AppendUnquoted(append(out, '\\'), rest[1:])
	}
	return string(out)
}
