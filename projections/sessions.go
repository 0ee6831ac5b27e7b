package projections

import (
	"encoding/binary"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/health"
)

// sessionView keeps one row a session. It counts by headers alone, so nothing that is forgotten changes it.
type sessionView struct{}

func (sessionView) Name() string       { return "sessions" }
func (sessionView) Version() int       { return 2 }
func (sessionView) SkipsUnknown() bool { return false }

func sessionTable() engine.Table[Session] { return engine.Table[Session]{Name: "rows"} }

// sessionTimeTable orders sessions by their latest captured event.
func sessionTimeTable() engine.Table[engine.Member] {
	return engine.Table[engine.Member]{Name: "by_time"}
}

func openSessionTable() engine.Table[engine.Member] { return engine.Table[engine.Member]{Name: "open"} }
func activityKey(s Session) []byte                  { return activityKeyOf(s.LastAt, s.ID) }
func activityID(k []byte) (id [16]byte)             { copy(id[:], k[len(k)-16:]); return id }

func activityKeyOf(at time.Time, id events.SessionID) []byte {
	return append(binary.BigEndian.AppendUint64(make([]byte, 0, 24), engine.TimeBits(at)), id[:]...)
}

func (sessionView) Tables() []engine.TableSpec {
	return []engine.TableSpec{sessionTable().Spec(engine.ShowID), sessionTimeTable().Spec(engine.ShowHex), openSessionTable().Spec(engine.ShowID)}
}

type sessionFold struct {
	x    *engine.Tx
	rows *engine.Cache[events.SessionID, Session]
	was  map[events.SessionID]Session // as the slice found it
}

func (sessionView) Fold(x *engine.Tx) engine.Fold {
	return &sessionFold{x: x, rows: engine.NewCache(x, sessionTable(), engine.SessionKey), was: map[events.SessionID]Session{}}
}

func (f *sessionFold) Apply(r *engine.Record) error {
	if r.Session.IsZero() {
		return nil
	}
	s, err := f.row(r)
	if err != nil {
		return err
	}
	return s.hear(r)
}

func (f *sessionFold) row(r *engine.Record) (*Session, error) {
	s, err := f.rows.Edit(r.Session)
	if err != nil {
		return nil, err
	}
	if _, seen := f.was[r.Session]; !seen {
		f.was[r.Session] = *s
	}
	return s, nil
}

// hear takes over what the session's next record says.
func (s *Session) hear(r *engine.Record) error {
	if s.First == 0 {
		s.ID, s.First, s.OpenedAt, s.LastAt = r.Session, r.Position, r.OccurredAt, r.OccurredAt
	}
	s.Last = r.Position
	if captured(r.Kind) {
		s.ClosedAt, s.CloseCause = time.Time{}, ""
		if r.OccurredAt.After(s.LastAt) {
			s.LastAt = r.OccurredAt
		}
	}
	countSession(s, r.Kind)
	return tellSession(s, r)
}

// captured reports whether records of kind k are what agents do, rather than what cmemd does about it.
func captured(k events.Kind) bool {
	switch k {
	case events.KindSessionOpened, events.KindPromptSubmitted, events.KindToolUsed, events.KindAgentStopped,
		events.KindContextCompacted:
		return true
	}
	return false
}

func countSession(s *Session, k events.Kind) {
	switch k {
	case events.KindPromptSubmitted:
		s.Prompts++
	case events.KindToolUsed:
		s.ToolUses++
	case events.KindAgentStopped:
		s.Stops++
	case events.KindContextCompacted:
		s.Compactions++
	case events.KindContextInjected:
		s.Injections++
	case events.KindTurnStarted:
		s.Turns++
	case events.KindTurnFailed:
		s.FailedTurns++
	case events.KindObservationParsed:
		s.Observations++
	case events.KindSummaryParsed:
		s.Summaries++
	}
}

// tellSession takes over what r's payload says of the session.
func tellSession(s *Session, r *engine.Record) error {
	switch r.Kind {
	case events.KindSessionOpened:
		e, ok, err := engine.PayloadOf[events.SessionOpened](r)
		if err != nil || !ok {
			return err
		}
		s.Agent, s.AgentSession, s.Project, s.ProjectRoot, s.Cwd = e.Agent, e.AgentSession, e.Project, e.ProjectRoot, e.Cwd
		s.GitRoot, s.GitBranch, s.GitHead, s.Source, s.Transcript = e.GitRoot, e.GitBranch, e.GitHead, e.Source, e.Transcript
	case events.KindSessionClosed:
		e, _, err := engine.PayloadOf[events.SessionClosed](r)
		if err != nil {
			return err
		}
		s.ClosedAt, s.CloseCause = r.OccurredAt, e.Cause
	case events.KindSessionRespawned:
		e, ok, err := engine.PayloadOf[events.SessionRespawned](r)
		if err != nil || !ok {
			return err
		}
		s.Generation, s.LastRespawn = e.To, health.RespawnOf(r, e)
		if s.Respawns == nil {
			s.Respawns = map[string]int64{}
		}
		s.Respawns[e.Cause]++
	case events.KindSessionQuarantined:
		e, _, err := engine.PayloadOf[events.SessionQuarantined](r)
		if err != nil {
			return err
		}
		s.Quarantined = health.QuarantineOf(r, e, s.Quarantined)
	case events.KindSessionReleased:
		s.Quarantined = nil
	}
	return nil
}

func (f *sessionFold) Flush() error {
	if err := f.rows.Flush(); err != nil {
		return err
	}
	for _, id := range f.rows.Order {
		now, err := f.rows.Peek(id)
		if err != nil || now == nil {
			return err
		}
		if err := f.index(f.was[id], *now); err != nil {
			return err
		}
	}
	return nil
}

func (f *sessionFold) index(was, now Session) error {
	if err := f.indexOpen(was, now); err != nil {
		return err
	}
	if was.First != 0 && was.LastAt.Equal(now.LastAt) {
		return nil
	}
	if was.First != 0 {
		if err := sessionTimeTable().Delete(f.x, activityKey(was)); err != nil {
			return err
		}
	}
	return sessionTimeTable().Put(f.x, activityKey(now), engine.Member{})
}

func (f *sessionFold) indexOpen(was, now Session) error {
	if was.First != 0 && was.Open() == now.Open() {
		return nil
	}
	if now.Open() {
		return openSessionTable().Put(f.x, engine.SessionKey(now.ID), engine.Member{})
	}
	return openSessionTable().Delete(f.x, engine.SessionKey(now.ID))
}

// Session is one session as its events tell it.
type Session struct {
	ID           events.SessionID `cbor:"1,keyasint,omitzero" json:"id"`
	Agent        string           `cbor:"2,keyasint,omitempty" json:"agent"`
	AgentSession string           `cbor:"3,keyasint,omitempty" json:"agent_session"`
	Project      string           `cbor:"4,keyasint,omitempty" json:"project"`
	ProjectRoot  string           `cbor:"5,keyasint,omitempty" json:"project_root,omitempty"`
	Cwd          string           `cbor:"6,keyasint,omitempty" json:"cwd,omitempty"`
	GitRoot      string           `cbor:"7,keyasint,omitempty" json:"git_root,omitempty"`
	GitBranch    string           `cbor:"8,keyasint,omitempty" json:"git_branch,omitempty"`
	GitHead      string           `cbor:"9,keyasint,omitempty" json:"git_head,omitempty"`
	Source       string           `cbor:"10,keyasint,omitempty" json:"source,omitempty"` // of its latest start
	Transcript   string           `cbor:"11,keyasint,omitempty" json:"transcript,omitempty"`

	First      events.Position `cbor:"12,keyasint,omitempty" json:"first"` // its first record
	Last       events.Position `cbor:"13,keyasint,omitempty" json:"last"`
	OpenedAt   time.Time       `cbor:"14,keyasint,omitzero" json:"opened_at,omitzero"` // its first event
	LastAt     time.Time       `cbor:"15,keyasint,omitzero" json:"last_at,omitzero"`   // its latest captured event
	ClosedAt   time.Time       `cbor:"16,keyasint,omitzero" json:"closed_at,omitzero"` // zero: open
	CloseCause string          `cbor:"17,keyasint,omitempty" json:"close_cause,omitempty"`

	Prompts      int `cbor:"18,keyasint,omitempty" json:"prompts"`
	ToolUses     int `cbor:"19,keyasint,omitempty" json:"tool_uses"`
	Stops        int `cbor:"20,keyasint,omitempty" json:"stops"`
	Compactions  int `cbor:"21,keyasint,omitempty" json:"compactions,omitempty"`
	Injections   int `cbor:"22,keyasint,omitempty" json:"injections,omitempty"`
	Turns        int `cbor:"23,keyasint,omitempty" json:"turns"`
	FailedTurns  int `cbor:"24,keyasint,omitempty" json:"failed_turns,omitempty"`
	Observations int `cbor:"25,keyasint,omitempty" json:"observations"` // as parsed: folded and superseded ones included
	Summaries    int `cbor:"26,keyasint,omitempty" json:"summaries"`

	Generation  int                `cbor:"27,keyasint,omitempty" json:"generation,omitempty"` // of the observer, after the latest respawn
	Quarantined *health.Quarantine `cbor:"28,keyasint,omitempty" json:"quarantined,omitempty"`

	Respawns    map[string]int64 `cbor:"29,keyasint,omitempty" json:"respawns,omitempty"` // of the observer, by cause
	LastRespawn *health.Respawn  `cbor:"30,keyasint,omitempty" json:"last_respawn,omitempty"`

	Title   string  `cbor:"-" json:"title,omitempty"` // its first words: the first prompt that is not private; filled when read
	Pending int     `cbor:"-" json:"pending"`         // inputs that still await an outcome; filled when read
	Inputs  Balance `cbor:"-" json:"inputs"`          // filled by Views.Session, not by Views.Sessions
}

// Open reports whether the session has not been closed.
func (s Session) Open() bool { return s.ClosedAt.IsZero() }

// SessionFilter chooses sessions. The zero value chooses all.
type SessionFilter struct {
	ProjectRoot string
	Agent       string
	Since       time.Time // with a captured event at or after it
	OpenOnly    bool
	Match       func(Session) bool // as its own events tell it, without what is counted; it must not ask the views. nil: every session
	Limit       int                // 0 means 100
}
