package api

import (
	"encoding/base64"
	"encoding/json"
	"errors"

	"github.com/cmemd/cmemd/events"
)

// Cursor is where a list goes on: what a page ended with, in the order that lies under it, whatever is folded or added since. Callers
// give back what they were given; what is in it may change. The zero Cursor is the beginning, and in an answer the end.
type Cursor struct {
	At     events.Position `json:"p,omitempty"` // the place in the log
	AsOf   events.Position `json:"t,omitempty"` // of a search: what its pages know
	Row    events.ID       `json:"r,omitzero"`  // of a search: the last row that was shown
	Passed int             `json:"n,omitempty"` // of a search: about how many entries that were
}

// errCursor is a text that no page ended with.
var errCursor = errors.New("api: no cursor")

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
	if err != nil || json.Unmarshal(b, (*fields)(c)) != nil || c.Passed < 0 {
		return errCursor
	}
	return nil
}
