package erasure

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/durable"
)

// state is what is under way, and how far the log was looked at. It holds positions, never words.
type state struct {
	Scanned       events.Position `json:"scanned"` // what MemoryForgotten up to here names is erased
	Chain         events.Hash     `json:"chain"`   // of the record there: tells a log from another one
	ChecksScanned bool            `json:"looks"`   // later looks at claims were looked for up to there, too: once nobody did
	Owed          bool            `json:"owed"`    // files may still hold words of what was erased
	Pending       []pending       `json:"pending,omitempty"`
	Retained      events.Position `json:"retained"` // retention begins to look behind it
	Erased        int             `json:"erased"`   // inputs that retention erased, ever
	// Positions that are erased, or are about to be, and that other machines have not been notified of.
	Unsent []events.Position `json:"unsent,omitempty"`
}

// unfinished reports whether there is something for Run to finish.
func (s state) unfinished() bool { return s.Owed || len(s.Pending) > 0 }

// isDue reports whether Run has anything to do.
func (s state) isDue() bool { return s.unfinished() || len(s.Unsent) > 0 }

// pending is what a person wants forgotten of one stream.
type pending struct {
	Stream    events.StreamID   `json:"stream"`
	Positions []events.Position `json:"positions"`
}

// maxStateFile bounds what is read as a state, in bytes: a state names positions, each of some ten bytes, while they are being erased.
const maxStateFile = 256 << 20

// stateFile keeps a state on disk. A file that is not there, or cannot be read, is the zero state: everything is looked at.
type stateFile struct {
	path string
	log  any        // where positions of the union pass; see positionMapper. nil: there is one log
	mu   sync.Mutex // guards now and read
	now  state
	read bool
}

func (f *stateFile) get() state {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.load()
}

// load is get. The caller holds mu.
func (f *stateFile) load() state {
	if !f.read {
		f.read = true
		b, err := durable.ReadLinked(f.path, maxStateFile)
		if err != nil || json.Unmarshal(b, &f.now) != nil {
			f.now = state{}
		}
		if b, ok := f.log.(positionMapper); ok {
			f.now = f.now.toUnion(b)
		}
	}
	return f.now
}

// change writes what alter makes of the state. It is on disk on return.
func (f *stateFile) change(alter func(*state)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	next := f.load()
	alter(&next)
	kept := next
	if b, ok := f.log.(positionMapper); ok {
		kept = next.toOwn(b)
	}
	b, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("erasure: %w", err)
	}
	if err := durable.Replace(f.path, b, 0o600); err != nil {
		return err
	}
	f.now = next
	return nil
}

// positionMapper is a log that has records of others among its own: the file has positions of the own log, which are the same whatever
// else is here. A union.Log is one.
type positionMapper interface {
	places
	At(events.Place) (events.Position, bool)
	Before(events.Position) events.Position
}

// toOwn is s with positions of the own log. Pending and Unsent name no other's records.
func (s state) toOwn(b positionMapper) state {
	s.Scanned, s.Retained = b.Before(s.Scanned), b.Before(s.Retained)
	return s.each(func(p events.Position) events.Position {
		home, _ := b.Where(p)
		return home.Position
	})
}

// toUnion undoes toOwn.
func (s state) toUnion(b positionMapper) state {
	at := func(p events.Position) events.Position {
		if seen, ok := b.At(events.Place{Position: p}); ok {
			return seen
		}
		return p // it may be of another log, which whoever looks finds out
	}
	s.Scanned, s.Retained = at(s.Scanned), at(s.Retained)
	return s.each(at)
}

func (s state) each(change func(events.Position) events.Position) state {
	all := make([]pending, len(s.Pending))
	for i, p := range s.Pending {
		all[i].Stream = p.Stream
		for _, at := range p.Positions {
			all[i].Positions = append(all[i].Positions, change(at))
		}
	}
	if s.Pending != nil {
		s.Pending = all
	}
	var unsent []events.Position
	for _, at := range s.Unsent {
		unsent = append(unsent, change(at))
	}
	s.Unsent = unsent
	return s
}

// begin notes what is about to go.
func (f *stateFile) begin(shares []Share) error {
	return f.change(func(s *state) {
		s.Owed = true
		for _, sh := range shares {
			s.Pending = append(s.Pending, sh.pending())
		}
	})
}

// markClean notes what is still to be recorded, and that the files are clean; scanned, if not nil, that all of the log up to it was
// looked at.
func (f *stateFile) markClean(left []pending, scanned *events.Record) error {
	return f.change(func(s *state) {
		s.Owed, s.Pending = false, left
		if scanned != nil {
			s.Scanned, s.Chain, s.ChecksScanned = scanned.Position, scanned.Chain, true
		}
	})
}

// Awaited returns the positions that the file of a state at path says are to be forgotten and are not yet; none where it cannot be read.
func Awaited(path string) (all []events.Position) {
	f := stateFile{path: path}
	for _, p := range f.get().Pending {
		all = append(all, p.Positions...)
	}
	return all
}

// Rescan has the state in the file at path, if there is one, look through all of a log again: it is not the one that was looked at. What
// is under way goes on.
func Rescan(path string) error {
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	f := stateFile{path: path}
	return f.change(func(s *state) { s.Scanned, s.Chain, s.Retained = 0, events.Hash{}, 0 })
}
