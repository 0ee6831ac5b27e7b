package rows

import (
	"encoding/binary"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// Entry names what readers take for one thing: a prompt of a session together with the observations of the work that it asked
// for. Any other row, such as a session's summary or a saved memory, is one of its own. Views keep rows; who shows them folds.
type Entry struct {
	Session events.SessionID
	Prompt  int       // its number in the session; 0: the entry is one row
	Row     events.ID // the one row; zero: the entry is a prompt's

	Log events.LogID // that has the prompt: a session on two machines has one of each number in both; zero: there is one log
}

// Entry is the entry that the row is part of.
func (r Row) Entry() Entry {
	if (r.Kind == Prompt || r.Kind == Observation) && r.Prompt > 0 && !r.Session.IsZero() {
		return Entry{Session: r.Session, Prompt: r.Prompt, Log: r.Place.Log}
	}
	return Entry{Row: r.ID}
}

// Mark is an id that no other entry has: that of its one row, or one made of the session's and the prompt's number.
func (e Entry) Mark() events.ID {
	if e.Prompt == 0 {
		return e.Row
	}
	id := events.ID(e.part())
	binary.BigEndian.PutUint64(id[8:], binary.BigEndian.Uint64(id[8:])^uint64(e.Prompt))
	return id
}

// key is where the rows of a prompt's entry are listed; with a position behind it, one of them.
func (e Entry) key() []byte { return engine.PlaceKey(e.part(), events.Position(e.Prompt)) }

// part is an id for what the log has of the session.
func (e Entry) part() events.SessionID {
	part := e.Session
	for i := range part {
		part[i] ^= e.Log[i]
	}
	return part
}

// rowKey is where a row of it is listed.
func (e Entry) rowKey(p events.Position) []byte {
	return binary.BigEndian.AppendUint64(e.key(), uint64(p))
}
