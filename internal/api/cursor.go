package api

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
)

// Cursor is where a list goes on: what a page ended with, in the order that lies under it, whatever is folded or added since. Callers
// give back what they were given, with the same query; what is in it may change. The zero Cursor is the beginning, and in an answer
// the end.
type Cursor struct {
	List   string          `json:"l,omitempty"` // the list that it is of: the path of its route
	Query  uint32          `json:"q,omitempty"` // what that list was asked for, as a hash
	At     events.Position `json:"p,omitempty"` // the place in the log
	On     time.Time       `json:"d,omitzero"`  // of a list by time: when that happened
	AsOf   events.Position `json:"t,omitempty"` // of a search: what its pages know
	Row    events.ID       `json:"r,omitzero"`  // of a search: the last row that was shown
	Passed int             `json:"n,omitempty"` // of a search: about how many entries that were
	Shown  []byte          `json:"s,omitempty"` // of a search by relevance, whose order moves as words become commoner: marks of all that were
}

// cursorMark is how many bytes of a row's id mark it among those that were shown, and maxMarks how many rows are marked: a cursor
// is a parameter. A search by relevance that goes on behind those may miss a row, or show one twice, if memory grew meanwhile.
const (
	cursorMark = 4
	maxMarks   = 500
)

// WithMarks is c with marks of the rows that a page shows; without any where they are too many, or not of all that were passed.
func (c Cursor) WithMarks(shown []byte, ids ...events.ID) Cursor {
	c.Shown = slices.Clone(shown)
	for _, id := range ids {
		c.Shown = append(c.Shown, id[len(id)-cursorMark:]...)
	}
	if c.Passed > maxMarks || len(c.Shown) != c.Passed*cursorMark {
		c.Shown = nil
	}
	return c
}

// Marked is how c tells of a row whether it was shown; nil where it holds no marks.
func (c Cursor) Marked() func(id events.ID) bool {
	if len(c.Shown) == 0 {
		return nil
	}
	marks := map[string]bool{}
	for mark := range slices.Chunk(c.Shown, cursorMark) {
		marks[string(mark)] = true
	}
	return func(id events.ID) bool { return marks[string(id[len(id)-cursorMark:])] }
}

// errCursor is a text that no page ended with.
var errCursor = errors.New("api: no cursor")

// IsZero reports whether c is the beginning, or the end.
func (c Cursor) IsZero() bool { return c.At == 0 && c.Passed == 0 }

// MarshalText implements encoding.TextMarshaler.
func (c Cursor) MarshalText() ([]byte, error) {
	type fields Cursor
	b, err := json.Marshal(fields(c))
	return base64.RawURLEncoding.AppendEncode(nil, b), err
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *Cursor) UnmarshalText(text []byte) error {
	type fields Cursor
	b, err := base64.RawURLEncoding.AppendDecode(nil, text)
	if err != nil || json.Unmarshal(b, (*fields)(c)) != nil || c.Passed < 0 || c.IsZero() {
		return errCursor
	}
	return nil
}
