package relay

import (
	"strconv"
	"unicode/utf8"
)

// A squeezer copies a JSON text and shortens its long strings on the way, so that a payload too large to carry keeps
// its shape and all its short fields. What it copies of a JSON text is JSON. The zero value is not usable: set keep.
type squeezer struct {
	keep    int    // bytes kept of a string, as written
	out     []byte // what was copied
	quoted  bool   // inside a string
	escape  int    // bytes of an escape sequence still to come
	length  int    // of the string so far
	dropped int    // of its bytes
}

// write takes the next bytes of the text. They may end anywhere.
func (q *squeezer) write(p []byte) {
	for _, c := range p {
		if !q.quoted {
			q.quoted = c == '"'
			q.out = append(q.out, c)
			continue
		}
		q.inString(c)
	}
}

func (q *squeezer) inString(c byte) {
	if c == '"' && q.escape == 0 {
		q.endString()
		return
	}
	border := q.escape == 0 && utf8.RuneStart(c)
	q.track(c)
	q.length++
	if q.dropped > 0 || (q.length > q.keep && border) {
		q.dropped++
		return
	}
	q.out = append(q.out, c)
}

// track follows escape sequences, so that none is cut and no escaped quote ends a string.
func (q *squeezer) track(c byte) {
	switch {
	case q.escape > 1:
		q.escape--
	case q.escape == 1 && c == 'u':
		q.escape = 4
	case q.escape == 1:
		q.escape = 0
	case c == '\\':
		q.escape = 1
	}
}

func (q *squeezer) endString() {
	if q.dropped > 0 {
		q.out = append(q.out, " [cmemd: "...)
		q.out = strconv.AppendInt(q.out, int64(q.dropped), 10)
		q.out = append(q.out, " bytes left out]"...)
	}
	q.out = append(q.out, '"')
	q.quoted, q.length, q.dropped = false, 0, 0
}
