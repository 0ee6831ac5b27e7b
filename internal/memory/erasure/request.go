package erasure

import (
	"errors"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
)

// Errors of choosing.
var (
	// ErrNothingNamed is a Request without any condition.
	ErrNothingNamed = errors.New("erasure: the request names nothing")
	// ErrShortQuery is a Request whose Query is so short that half a log would hold it.
	ErrShortQuery = errors.New("erasure: the text to look for is too short")
)

// minQueryBytes is the shortest text that is looked for, in bytes.
const minQueryBytes = 3

// Request chooses what goes. Its conditions hold all together, and there must be one. What was made of the chosen goes too;
// what it was made of goes where it is named by id.
type Request struct {
	IDs     []events.ID      // of rows. A prompt goes with the work that it asked for, a memory with all its corrections
	Query   string           // a text that is in it literally, letter case and kinds of white space aside
	Session events.SessionID // of it; and, if it is named, of saved memories that name it so
	Named   string           // the session as its agent, or the saver, calls it
	Project string           // of the project of that root, key or shown name

	// ProjectKey is what identifies the project of a root in Project; empty: as is known of that.
	ProjectKey string

	Since time.Time // happened at or after it
	Until time.Time // happened at or before it

	// Positions are records that a plan before named, and nothing else is chosen: what was made of them since goes too.
	Positions []events.Position

	Through events.Position // not what was recorded later, but what was made of the chosen; 0: the log as it stands
}

func (r Request) check() error {
	if len(r.Positions) == 0 && len(r.IDs) == 0 && r.Query == "" && !r.ofSession() && r.Project == "" && r.Since.IsZero() && r.Until.IsZero() {
		return ErrNothingNamed
	}
	if r.Query != "" && len(rows.Normalise(r.Query)) < minQueryBytes {
		return ErrShortQuery
	}
	return nil
}

// ofSession reports whether a session is named.
func (r Request) ofSession() bool { return !r.Session.IsZero() || r.Named != "" }

// everything reports whether all that a stream of the right session and project says is chosen.
func (r Request) everything() bool {
	return len(r.IDs) == 0 && r.Query == "" && r.Since.IsZero() && r.Until.IsZero()
}

// within reports whether what happened at a time may be chosen.
func (r Request) within(at time.Time) bool {
	return !at.Before(r.Since) && (r.Until.IsZero() || !at.After(r.Until))
}

// Plan is what a Request chooses.
type Plan struct {
	Position events.Position     `json:"position"` // the log was looked at up to here
	Records  int                 `json:"records"`  // whose payloads go
	Bytes    int64               `json:"bytes"`    // of them, uncompressed
	Kinds    map[events.Kind]int `json:"kinds"`    // the records by kind
	Sessions []Share             `json:"sessions"` // what goes by session, the latest last; saved memories have a share without one; never null
	Sample   []Sample            `json:"sample"`   // some of it: memory first; never null
	Stays    []Sample            `json:"stays"`    // some of what it was made of and that stays: other memory was made of that too; never null
	Kept     int                 `json:"kept"`     // how many such there are

	Unfinished bool `json:"unfinished,omitempty"` // what was forgotten before is not gone from all files yet
}

// Share is what goes of one stream.
type Share struct {
	Session   events.SessionID    `json:"session,omitzero"`
	Log       events.LogID        `json:"log,omitzero"` // of the machine whose records they are; zero: this one
	Agent     string              `json:"agent,omitempty"`
	Project   string              `json:"project,omitempty"`
	Records   int                 `json:"records"`
	Bytes     int64               `json:"bytes"`
	Kinds     map[events.Kind]int `json:"kinds"`
	Positions []events.Position   `json:"-"`
	stream    events.StreamID
}

func (sh Share) pending() pending { return pending{Stream: sh.stream, Positions: sh.Positions} }

// Sample is one record in a line.
type Sample struct {
	Position events.Position `json:"position"`
	Kind     events.Kind     `json:"kind"`
	ID       events.ID       `json:"id,omitzero"`     // of a row
	Handle   rows.Handle     `json:"handle,omitzero"` // short for ID
	At       time.Time       `json:"at"`
	Text     string          `json:"text"` // its beginning
}
