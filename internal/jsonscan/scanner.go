package jsonscan

// maxDepth is how deep arrays and objects may nest; encoding/json, which reads the payload later, stops there too.
const maxDepth = 10000

// A Token is one string, number or literal of a JSON text: Data[Start:End], quotes included.
type Token struct {
	Start, End int
	Depth      int  // of the containers around it: 1 for a member of the outermost object
	Key        bool // it names a member
}

// expect is what a Scanner expects next.
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

// A Scanner reads one JSON text strictly and without building anything. The zero value with Data set is ready. It is not for
// concurrent use, and does not change Data.
type Scanner[T string | []byte] struct {
	Data     T
	pos      int
	stack    []byte // the open containers, '{' or '['
	expect   expect
	bad      bool // the text is not JSON; pos is where that shows
	minDepth int  // see MinDepth
}

// Reset makes s ready for another text. It keeps its memory.
func (s *Scanner[T]) Reset(data T) { *s = Scanner[T]{Data: data, stack: s.stack[:0]} }

// Next returns the next string, number or literal. It returns false at the end, and where the text is not JSON:
// Valid tells these apart.
func (s *Scanner[T]) Next() (Token, bool) {
	s.minDepth = len(s.stack)
	for {
		s.pos = Space(s.Data, s.pos)
		if s.pos == len(s.Data) {
			return Token{}, false
		}
		c := s.Data[s.pos]
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
			return Token{}, false
		}
	}
}

// Valid reports whether the whole text has been read and is one JSON value.
func (s *Scanner[T]) Valid() bool {
	return !s.bad && s.pos == len(s.Data) && s.expect == expectNothing
}

// MinDepth is the fewest containers that were open between the last token and the one before it.
func (s *Scanner[T]) MinDepth() int { return s.minDepth }

// Depth is how many containers are open.
func (s *Scanner[T]) Depth() int { return len(s.stack) }

// InList reports whether the innermost container that is open is a list.
func (s *Scanner[T]) InList() bool { return len(s.stack) > 0 && s.stack[len(s.stack)-1] == '[' }

func (s *Scanner[T]) open(c byte) {
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

func (s *Scanner[T]) close(c byte) {
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
	s.minDepth = min(s.minDepth, n-1)
	s.pos++
	s.valueDone()
}

func (s *Scanner[T]) separate(c byte) {
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

func (s *Scanner[T]) scalar(c byte) (Token, bool) {
	key := c == '"' && (s.expect == expectKey || s.expect == expectKeyOrEnd)
	if !key && !s.wantsValue() {
		s.bad = true
		return Token{}, false
	}
	n := scalarLength(s.Data[s.pos:])
	if n == 0 {
		s.bad = true
		return Token{}, false
	}
	t := Token{Start: s.pos, End: s.pos + n, Depth: len(s.stack), Key: key}
	s.pos = t.End
	if key {
		s.expect = expectColon
		return t, true
	}
	s.valueDone()
	return t, true
}

func (s *Scanner[T]) wantsValue() bool {
	return s.expect == expectValue || s.expect == expectValueOrEnd
}

func (s *Scanner[T]) valueDone() {
	s.expect = expectCommaOrEnd
	if len(s.stack) == 0 {
		s.expect = expectNothing
	}
}

// scalarLength returns how long the string, number or literal at the start of b is, and 0 where there is none.
func scalarLength[T string | []byte](b T) int {
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

func prefixLength[T string | []byte](b T, word string) int {
	if len(b) < len(word) || string(b[:len(word)]) != word {
		return 0
	}
	return len(word)
}

// stringLength measures the string, quotes included, that starts b; 0 if it is not closed or not valid.
func stringLength[T string | []byte](b T) int {
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

func numberLength[T string | []byte](b T) int {
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

func exponentLength[T string | []byte](b T) int {
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

func digits[T string | []byte](b T) int {
	n := 0
	for n < len(b) && '0' <= b[n] && b[n] <= '9' {
		n++
	}
	return n
}

// Valid reports whether data is one JSON value, as encoding/json does.
func Valid(data []byte) bool {
	s := Scanner[[]byte]{Data: data}
	for {
		if _, ok := s.Next(); !ok {
			return s.Valid()
		}
	}
}

// Scalars calls yield with the name and the raw value of each member of the outermost object whose value is a string,
// a number or a literal, until yield returns false. It returns false if the text is not JSON as far as it was read.
func Scalars(data []byte, yield func(name string, value []byte) bool) bool {
	s := Scanner[[]byte]{Data: data}
	name, named := "", false
	for {
		t, ok := s.Next()
		switch {
		case !ok:
			return s.Valid()
		case t.Key && t.Depth == 1:
			name, named = Unquote(data[t.Start:t.End]), true
		case named && t.Depth == 1:
			named = false
			if !yield(name, data[t.Start:t.End]) {
				return true
			}
		default:
			named = false
		}
	}
}

// StringMember returns the text of the first member of that name of the outermost object which is a string, else nothing. It
// stops reading there, so a tool's output behind it costs nothing.
func StringMember(payload []byte, wanted string) string {
	text := ""
	Scalars(payload, func(name string, value []byte) bool {
		if name != wanted || value[0] != '"' {
			return true
		}
		text = Unquote(value)
		return false
	})
	return text
}
