package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/cmemd/cmemd/internal/jsonscan"
)

// blockSize is how much of a scenario's text is cut at once; an event that is larger makes its block larger.
const blockSize = 256 << 10

// cutter cuts the events out of a scenario's text as it arrives. It looks at brackets and strings alone: whether what
// it cuts out is JSON is seen by whoever reads that.
type cutter struct {
	in     io.Reader
	size   int    // of a block, at least
	window []byte // what was read and is not passed on
	read   int64  // bytes, the window's among them
	line   int    // of the window's first byte, from 1
	ended  bool   // the reader has
	some   bool   // an event was cut out
	rest   remainder
}

// block is a piece of the list of events.
type block struct {
	text   []byte
	events []span // within text
	offset int64  // of text in the scenario
	line   int    // of its first byte
}

// span is a part of a text.
type span struct{ from, to int }

func newCutter(in io.Reader) *cutter { return &cutter{in: in, size: blockSize, line: 1} }

// head reads up to the list of events; false: there is none, and all of the text is in c.rest.
func (c *cutter) head() bool {
	for {
		if i := eventList(c.window); i > 0 {
			c.rest.text, c.rest.at = bytes.Clone(c.window[:i]), i
			c.consume(i, nil)
			return true
		}
		if !c.more() {
			c.rest.text = c.window
			return false
		}
	}
}

// next returns the next block of events; false: there is none. The rest of the scenario is in c.rest then. The block's
// memory is the caller's; spare, which may be nil, is no longer.
func (c *cutter) next(spare []byte) (b block, more bool, wrong *SyntaxError) {
	for {
		b.offset, b.line = c.read-int64(len(c.window)), c.line
		cut := c.cut(&b)
		if cut.err != nil {
			return b, false, c.wrong(cut.at, cut.err)
		}
		if len(b.events) > 0 {
			b.text = c.window[:cut.at]
			c.consume(cut.at, spare)
			return b, true, nil
		}
		if cut.ended {
			c.tail(cut.at)
			return b, false, nil
		}
		if !c.more() {
			return b, false, c.wrong(len(c.window), io.ErrUnexpectedEOF)
		}
	}
}

// wrong is what is wrong at an offset of the window.
func (c *cutter) wrong(at int, err error) *SyntaxError {
	return &SyntaxError{
		Line: c.line + bytes.Count(c.window[:at], []byte("\n")), Offset: c.read - int64(len(c.window)-at), Err: err,
	}
}

// consume passes on the first n bytes of the window. The others move to spare.
func (c *cutter) consume(n int, spare []byte) {
	c.line += bytes.Count(c.window[:n], []byte("\n"))
	c.window = append(spare[:0], c.window[n:]...)
}

// tail takes what follows the events: at is where it begins.
func (c *cutter) tail(at int) {
	c.consume(at, nil)
	c.rest.cut = c.read - int64(len(c.window)) - int64(len(c.rest.text))
	c.rest.cutLines = c.line - 1 - bytes.Count(c.rest.text, []byte("\n"))
	for c.more() {
	}
	c.rest.text = append(c.rest.text, c.window...)
}

// more reads on; false: there is no more.
func (c *cutter) more() bool {
	if c.ended {
		return false
	}
	if len(c.window) == cap(c.window) {
		c.window = append(make([]byte, 0, max(c.size, 2*cap(c.window))), c.window...)
	}
	n, err := io.ReadFull(c.in, c.window[len(c.window):cap(c.window)])
	c.window, c.read = c.window[:len(c.window)+n], c.read+int64(n)
	if err != nil {
		c.ended = true
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			c.rest.err = err
		}
	}
	return n > 0
}

// cutting is how far a window was cut.
type cutting struct {
	at    int   // behind the last event; where the list's end stands; or what is wrong
	ended bool  // the list is at its end
	err   error // that something is wrong
}

// cut adds the events that stand whole in the window to b, up to the list's end.
func (c *cutter) cut(b *block) (cut cutting) {
	w, comma := c.window, false
	for i := 0; i < len(w); i++ {
		switch ch := w[i]; {
		case ch == ' ' || ch == '\n' || ch == '\r' || ch == '\t':
		case ch == ']' && !comma:
			if len(b.events) == 0 {
				return cutting{at: i, ended: true}
			}
			return cut // found again behind what is cut now
		case ch == ',' && c.some && !comma:
			comma = true
		case ch == '{' && (comma || !c.some):
			n := jsonscan.ValueEnd(w[i:])
			if n == 0 {
				return cut
			}
			b.events = append(b.events, span{i, i + n})
			cut.at = i + n
			c.some, comma, i = true, false, i+n-1
		case len(b.events) == 0:
			return cutting{at: i + 1, err: fmt.Errorf("invalid character %q in the list of events", ch)}
		default:
			return cut
		}
	}
	return cut
}

// eventList returns where the list of a scenario's events begins, behind its bracket; 0: not in w.
func eventList(w []byte) int {
	for i, depth := 0, 0; i < len(w); i++ {
		switch w[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			n := jsonscan.StringEnd(w[i:])
			if n == 0 {
				return 0
			}
			if depth == 1 && string(w[i:i+n]) == `"events"` {
				if at := listAt(w, i+n); at > 0 {
					return at
				}
			}
			i += n - 1
		}
	}
	return 0
}

// listAt returns where the list that is the value of a key begins, behind its bracket; i is behind the key. 0: it is none,
// or not in w.
func listAt(w []byte, i int) int {
	for _, want := range []byte(":[") {
		if i = jsonscan.Space(w, i); i == len(w) || w[i] != want {
			return 0
		}
		i++
	}
	return i
}
