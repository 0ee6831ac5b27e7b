package observer

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/cmemd/cmemd/internal/jsonscan"
)

// uncut reads what is whole of a structured output that breaks off: the members of the object that are complete, and of a
// list that is not its complete elements. It is false where text does not break off but is wrong, or nothing of it is whole.
// It takes time in proportion to text, which is read twice.
func uncut(text string) (s structured, ok bool) {
	var all json.RawMessage
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&all); !errors.Is(err, io.ErrUnexpectedEOF) {
		return s, false
	}
	end, closers := lastWhole(text)
	return s, end > 0 && json.Unmarshal([]byte(text[:end]+closers), &s) == nil
}

// lastWhole is where the last object or list ends that is a member of the outermost object, or an element of a member; and
// what closes the text there. Text is the beginning of a JSON object.
func lastWhole(text string) (end int, closers string) {
	var open []byte // what closes the values that are open, the outermost first
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			n := jsonscan.StringEnd(text[i:])
			if n == 0 {
				return end, closers
			}
			i += n - 1
		case '{':
			open = append(open, '}')
		case '[':
			open = append(open, ']')
		case '}', ']':
			open = open[:len(open)-1]
			if len(open) == 1 || len(open) == 2 && open[1] == ']' {
				end, closers = i+1, closersOf(open)
			}
		}
	}
	return end, closers
}

// closersOf is what closes values from the innermost on.
func closersOf(open []byte) string {
	var b strings.Builder
	for i := len(open) - 1; i >= 0; i-- {
		b.WriteByte(open[i])
	}
	return b.String()
}
