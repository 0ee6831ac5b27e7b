package sessions

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// A session whose agent's files were copied to a second machine has records in two logs. Each log's are folded by themselves,
// into a part, and whoever asks for the session gets its parts put together: so it does not matter in which order machines hear
// of each other.

// partKey is where a part is kept: a session's id and, where there are records of other machines, its log's.
type partKey struct {
	session events.SessionID
	log     events.LogID // zero: there is one log
}

func (k partKey) bytes() []byte {
	if k.log.IsZero() {
		return engine.SessionKey(k.session)
	}
	return append(bytes.Clone(k.session[:]), k.log[:]...)
}

// Part is what one machine has of a session that is on several.
type Part struct {
	Log      events.LogID    `json:"log"`
	Machine  string          `json:"machine,omitempty"` // what it is called; empty: this one
	First    events.Position `json:"first"`
	Last     events.Position `json:"last"`
	OpenedAt time.Time       `json:"opened_at,omitzero"`
	LastAt   time.Time       `json:"last_at,omitzero"`
	ClosedAt time.Time       `json:"closed_at,omitzero"`
}

// whole is the session of an id; ok is false where there is none.
func whole(x *engine.Tx, id events.SessionID) (s Session, ok bool) {
	if !x.Joined {
		return table().Get(x, engine.SessionKey(id))
	}
	parts := table().Values(x, id[:])
	if len(parts) == 0 {
		return Session{}, false
	}
	s = joined(parts)
	s.Machine = x.Machine(s.Log)
	for i, p := range s.Parts {
		s.Parts[i].Machine = x.Machine(p.Log)
	}
	return s, true
}

// last is the part that was heard of last.
func last(parts []Session) Session {
	return slices.MaxFunc(parts, func(a, b Session) int {
		return cmp.Or(a.LastAt.Compare(b.LastAt), bytes.Compare(a.Log[:], b.Log[:]))
	})
}

// joined makes one session of its parts in several logs; there is at least one. What the parts say differently is taken from the one
// with the latest record. The session is closed if all parts are.
func joined(parts []Session) Session {
	s := last(parts)
	if len(parts) == 1 {
		return s
	}
	slices.SortFunc(parts, func(a, b Session) int {
		return cmp.Or(a.OpenedAt.Compare(b.OpenedAt), bytes.Compare(a.Log[:], b.Log[:]))
	})
	s.OpenedAt, s.Respawns = parts[0].OpenedAt, maps.Clone(s.Respawns)
	for _, p := range parts {
		if p.Log != s.Log {
			s.add(p)
		}
		s.Parts = append(s.Parts, Part{Log: p.Log, First: p.First, Last: p.Last, OpenedAt: p.OpenedAt, LastAt: p.LastAt, ClosedAt: p.ClosedAt})
	}
	return s
}

// add counts what is in another part.
func (s *Session) add(p Session) {
	s.First, s.Last = min(s.First, p.First), max(s.Last, p.Last)
	s.Prompts, s.ToolUses, s.Stops, s.Compactions = s.Prompts+p.Prompts, s.ToolUses+p.ToolUses, s.Stops+p.Stops, s.Compactions+p.Compactions
	s.Injections, s.Turns, s.FailedTurns = s.Injections+p.Injections, s.Turns+p.Turns, s.FailedTurns+p.FailedTurns
	s.Observations, s.Summaries = s.Observations+p.Observations, s.Summaries+p.Summaries
	for cause, n := range p.Respawns {
		if s.Respawns == nil {
			s.Respawns = map[string]int64{}
		}
		s.Respawns[cause] += n
	}
	switch {
	case s.Open() || p.Open():
		s.ClosedAt, s.CloseCause = time.Time{}, ""
	case p.ClosedAt.After(s.ClosedAt):
		s.ClosedAt, s.CloseCause = p.ClosedAt, p.CloseCause
	}
}
