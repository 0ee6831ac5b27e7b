package replay

import (
	"fmt"
	"io"
	"strings"

	"github.com/cmemd/cmemd/internal/jsonscan"
)

// span is a part of a text.
type span struct{ from, to int }

// splitEvents returns where the events of a scenario's list stand, which begins at from, behind its bracket, and where the
// bracket that closes it stands. It looks at brackets and strings alone: whether what it finds is JSON is seen by whoever
// reads that.
func splitEvents(text []byte, from int) (events []span, end int, wrong *SyntaxError) {
	at, may := from, "{]"
	for {
		at = jsonscan.Space(text, at)
		switch {
		case at == len(text):
			return nil, at, syntaxError(text, at, io.ErrUnexpectedEOF)
		case strings.IndexByte(may, text[at]) < 0:
			return nil, at, syntaxError(text, at+1, fmt.Errorf("invalid character %q in the list of events", text[at]))
		case text[at] == ']':
			return events, at, nil
		case text[at] == ',':
			at, may = at+1, "{"
			continue
		}
		n := jsonscan.ValueEnd(text[at:])
		if n == 0 {
			return nil, len(text), syntaxError(text, len(text), io.ErrUnexpectedEOF)
		}
		events = append(events, span{at, at + n})
		at, may = at+n, ",]"
	}
}

// eventsAt returns where the list of a scenario's events begins, behind its bracket; 0: there is none.
func eventsAt(text []byte) int {
	for i, depth := 0, 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			n := jsonscan.StringEnd(text[i:])
			if n == 0 {
				return 0
			}
			if depth == 1 && string(text[i:i+n]) == `"events"` {
				if at := listAt(text, i+n); at > 0 {
					return at
				}
			}
			i += n - 1
		}
	}
	return 0
}

// listAt returns where the list that is the value of a key begins, behind its bracket; i is behind the key. 0: it is none.
func listAt(text []byte, i int) int {
	for _, want := range []byte(":[") {
		if i = jsonscan.Space(text, i); i == len(text) || text[i] != want {
			return 0
		}
		i++
	}
	return i
}
