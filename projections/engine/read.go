package engine

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// ErrNotFound is an id, a session, a turn or a position that the views do not know.
var ErrNotFound = errors.New("projections: not found")

// NotFound is an error of the log, as ErrNotFound where the log does not hold what was asked for.
func NotFound(err error) error {
	if errors.Is(err, eventlog.ErrNotFound) {
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	return err
}

// ReadSlice is how many rows one read transaction looks at: a long one would keep the writer from reusing pages.
const ReadSlice = 512

// IDPrefix is the beginning of an id.
type IDPrefix struct {
	digits string // hex
	whole  []byte // those of them that make whole bytes
}

// ParseIDPrefix reads hex digits with or without hyphens; ok is false for text that no id can begin with.
func ParseIDPrefix(text string) (p IDPrefix, ok bool) {
	p.digits = strings.ToLower(strings.ReplaceAll(text, "-", ""))
	whole, err := hex.DecodeString(p.digits[:len(p.digits)/2*2])
	p.whole = whole
	return p, err == nil && len(p.digits) <= 32 && strings.Trim(p.digits, "0123456789abcdef") == ""
}

// Find returns the ids among the keys of the table of that name that begin with p, in order, at most limit of them.
func (p IDPrefix) Find(x *Tx, table string, limit int) []events.ID {
	var ids []events.ID
	c := x.Cursor(table)
	for k, _ := c.Seek(p.whole); k != nil && bytes.HasPrefix(k, p.whole) && len(ids) < limit; k, _ = c.Next() {
		if len(k) < len(events.ID{}) || !strings.HasPrefix(hex.EncodeToString(k), p.digits) {
			continue
		}
		if id := events.ID(k[:len(events.ID{})]); len(ids) == 0 || ids[len(ids)-1] != id { // a log's id may follow
			ids = append(ids, id)
		}
	}
	return ids
}
