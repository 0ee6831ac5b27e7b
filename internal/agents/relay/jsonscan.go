package relay

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how deep arrays and objects may nest; encoding/json, which reads the payload later, stops there too.
const maxDepth = 10000

// A token is one string, number or literal of a JSON text: data[start:end], quotes included.
type token struct {
	start, end int
	depth      int  // of the containers around it: 1 for a member of the outermost object
	key        bool // it names a member
}

// What a scanner expects next.
type expect byte

const (
	expectValue expect = iota
	expectValueOrEnd
	expectKey
	expectKeyOrEnd
	expectColon
	expectCommaOrEnd
	expectNothing
)

// A scanner reads one JSON text strictly and without building anything. The zero value with data set is ready.
type scanner struct {
	data   []byte
	pos    int
	stack  []byte // the open containers, '{' or '['
	expect expect
	bad    bool // the text is not JSON; pos is where that shows
	low    int  // the fewest containers that were open since the last token
}

// next returns the next string, number or literal. It returns false at the end, and where the text is not JSON:
// valid tells these apart.
func (s *scanner) next() (token, bool) {
	s.low = len(s.stack)
	for {
		s.space()
		if s.pos == len(s.data) {
			return token{}, false
		}
		c := s.data[s.pos]
		switch c {
		case '{', '[':
			s.open(c)
		case '}', ']':
			s.close(c)
		case ',', ':':
			s.separate(c)
		default:
			return s.scalar(c)
		}
		if s.bad {
			return token{}, false
		}
	}
}

// valid reports whether the whole text has been read and is one JSON value.
func (s *scanner) valid() bool {
	return !s.bad && s.pos == len(s.data) && s.expect == expectNothing
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return
		}
	}
}

func (s *scanner) open(c byte) {
	if !s.wantsValue() || len(s.stack) == maxDepth {
		s.bad = true
		return
	}
	s.stack = append(s.stack, c)
	s.pos++
	s.expect = expectKeyOrEnd
	if c == '[' {
		s.expect = expectValueOrEnd
	}
}

func (s *scanner) close(c byte) {
	opener, empty := byte('{'), expectKeyOrEnd
	if c == ']' {
		opener, empty = '[', expectValueOrEnd
	}
	n := len(s.stack)
	if n == 0 || s.stack[n-1] != opener || (s.expect != expectCommaOrEnd && s.expect != empty) {
		s.bad = true
		return
	}
	s.stack = s.stack[:n-1]
	s.low = min(s.low, n-1)
	s.pos++
	s.valueDone()
}

func (s *scanner) separate(c byte) {
	switch {
	case c == ':' && s.expect == expectColon:
		s.expect = expectValue
	case c == ',' && s.expect == expectCommaOrEnd && s.stack[len(s.stack)-1] == '{':
		s.expect = expectKey
	case c == ',' && s.expect == expectCommaOrEnd:
		s.expect = expectValue
	default:
		s.bad = true
		return
	}
	s.pos++
}

func (s *scanner) scalar(c byte) (token, bool) {
	key := c == '"' && (s.expect == expectKey || s.expect == expectKeyOrEnd)
	if !key && !s.wantsValue() {
		s.bad = true
		return token{}, false
	}
	n := scalarLength(s.data[s.pos:])
	if n == 0 {
		s.bad = true
		return token{}, false
	}
	t := token{start: s.pos, end: s.pos + n, depth: len(s.stack), key: key}
	s.pos = t.end
	if key {
		s.expect = expectColon
		return t, true
	}
	s.valueDone()
	return t, true
}

func (s *scanner) wantsValue() bool {
	return s.expect == expectValue || s.expect == expectValueOrEnd
}

func (s *scanner) valueDone() {
	s.expect = expectCommaOrEnd
	if len(s.stack) == 0 {
		s.expect = expectNothing
	}
}

// scalarLength returns how long the string, number or literal at the start of b is, and 0 where there is none.
func scalarLength(b []byte) int {
	switch b[0] {
	case '"':
		return stringLength(b)
	case 't':
		return prefixLength(b, "true")
	case 'f':
		return prefixLength(b, "false")
	case 'n':
		return prefixLength(b, "null")
	}
	return numberLength(b)
}

func prefixLength(b []byte, word string) int {
	if len(b) < len(word) || string(b[:len(word)]) != word {
		return 0
	}
	return len(word)
}

// stringLength measures the string, quotes included, that starts b; 0 if it is not closed or not valid.
func stringLength(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return 0
		case c == '\\':
			n := escapeLength(b[i:])
			if n == 0 {
				return 0
			}
			i += n - 1
		}
	}
	return 0
}

// escapeLength measures the escape sequence that starts b; 0 if it is not one.
func escapeLength(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	if b[1] != 'u' {
		if bytes.IndexByte([]byte(`"\/bfnrt`), b[1]) < 0 {
			return 0
		}
		return 2
	}
	if _, ok := hex4(b); !ok {
		return 0
	}
	return 6
}

// hex4 reads the code unit of an escape of the form \uXXXX that starts b.
func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range b[2:6] {
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

func numberLength(b []byte) int {
	i := 0
	if b[0] == '-' {
		i = 1
	}
	n := digits(b[i:])
	if n == 0 || (n > 1 && b[i] == '0') {
		return 0
	}
	i += n
	if i < len(b) && b[i] == '.' {
		n = digits(b[i+1:])
		if n == 0 {
			return 0
		}
		i += 1 + n
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		n = exponentLength(b[i:])
		if n == 0 {
			return 0
		}
		i += n
	}
	return i
}

func exponentLength(b []byte) int {
	i := 1
	if i < len(b) && (b[i] == '+' || b[i] == '-') {
		i++
	}
	n := digits(b[i:])
	if n == 0 {
		return 0
	}
	return i + n
}

func digits(b []byte) int {
	n := 0
	for n < len(b) && '0' <= b[n] && b[n] <= '9' {
		n++
	}
	return n
}

// validJSON reports whether data is one JSON value.
func validJSON(data []byte) bool {
	s := scanner{data: data}
	for {
		if _, ok := s.next(); !ok {
			return s.valid()
		}
	}
}

// members calls yield with the name and the raw value of each member of the outermost object whose value is a string,
// a number or a literal, until yield returns false. It returns false if the text is not JSON as far as it was read.
func members(data []byte, yield func(name string, value []byte) bool) bool {
	s := scanner{data: data}
	name, named := "", false
	for {
		t, ok := s.next()
		switch {
		case !ok:
			return s.valid()
		case t.key && t.depth == 1:
			name, named = unquote(data[t.start:t.end]), true
		case named && t.depth == 1:
			named = false
			if !yield(name, data[t.start:t.end]) {
				return true
			}
		default:
			named = false
		}
	}
}

// eventName returns the payload's hook_event_name; see stringMember.
func eventName(payload []byte) string { return stringMember(payload, "hook_event_name") }

// stringMember returns the text of the first member of that name of the outermost object which is a string, else nothing. It
// stops reading there, so a tool's output behind it costs nothing.
func stringMember(payload []byte, wanted string) string {
	text := ""
	members(payload, func(name string, value []byte) bool {
		if name != wanted || value[0] != '"' {
			return true
		}
		text = unquote(value)
		return false
	})
	return text
}

// unquote returns the text of a JSON string that a scanner has passed. Half a surrogate pair becomes U+FFFD; bytes that
// are not UTF-8 stay as they are.
func unquote(raw []byte) string {
	raw = raw[1 : len(raw)-1]
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			i++
			continue
		}
		r, n := unescape(raw[i:])
		out = utf8.AppendRune(out, r)
		i += n
	}
	return string(out)
}

// unescape decodes the escape sequence, or the two of a surrogate pair, that start b.
func unescape(b []byte) (rune, int) {
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
	r, _ := hex4(b)
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	low, _ := hex4(b[6:])
	if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
		return pair, 12
	}
	return utf8.RuneError, 6
}

// appendQuoted appends s as a JSON string. Only what must be escaped is, so it is never longer than the string that s
// was decoded from.
func appendQuoted(dst []byte, s string) []byte {
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
