package relay

import (
	"strconv"
	"unicode/utf8"
)

// A shortener copies a JSON text and shortens its long strings on the way, so that a payload too large to carry keeps
// its shape and all its short fields. What it copies of a JSON text is JSON. The zero value is not usable: set keep.
type shortener struct {
	keep    int    // bytes kept of a string, as written
	out     []byte // what was copied
	quoted  bool   // inside a string
	escape  int    // bytes of an escape sequence still to come
	length  int    // of the string so far
	dropped int    // of its bytes
}

// write takes the next bytes of the text. They may end anywhere.
func (s *shortener) write(p []byte) {
	for _, c := range p {
		if !s.quoted {
			s.quoted = c == '"'
			s.out = append(s.out, c)
			continue
		}
		s.inString(c)
	}
}

func (s *shortener) inString(c byte) {
	if c == '"' && s.escape == 0 {
		s.endString()
		return
	}
	border := s.escape == 0 && utf8.RuneStart(c)
	s.track(c)
	s.length++
	if s.dropped > 0 || (s.length > s.keep && border) {
		s.dropped++
		return
	}
	s.out = append(s.out, c)
}

// track follows escape sequences, so that none is cut and no escaped quote ends a string.
func (s *shortener) track(c byte) {
	switch {
	case s.escape > 1:
		s.escape--
	case s.escape == 1 && c == 'u':
		s.escape = 4
	case s.escape == 1:
		s.escape = 0
	case c == '\\':
		s.escape = 1
	}
}

func (s *shortener) endString() {
	if s.dropped > 0 {
		s.out = append(s.out, " [cmemd: "...)
		s.out = strconv.AppendInt(s.out, int64(s.dropped), 10)
		s.out = append(s.out, " bytes left out]"...)
	}
	s.out = append(s.out, '"')
	s.quoted, s.length, s.dropped = false, 0, 0
}
