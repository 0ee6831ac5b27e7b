package segment

import (
	"crypto/sha256"

	"github.com/cmemd/cmemd/events"
)

// A Linker computes links, record after record. It is used by one goroutine.
type Linker struct {
	Link events.Hash // of the last record that was added; before the first of a log it is zero

	room []byte
}

// Add adds the record that follows in its log. It returns events.ErrTooLarge for a stream's name that no log holds.
func (l *Linker) Add(r events.Record) error {
	room, err := r.Erase().AppendBinary(append(l.room[:0], l.Link[:]...))
	l.room = room
	if err != nil {
		return err
	}
	room[len(l.Link)+1] = 0 // the record's state, which says whether its payload is there
	l.Link = sha256.Sum256(room)
	return nil
}
