package projections

import (
	"encoding/binary"
	"time"

	"github.com/cmemd/cmemd/events"
)

// sessionView keeps one row a session. It counts by headers alone, so nothing that is forgotten changes it.
type sessionView struct{}

func (sessionView) name() string       { return "sessions" }
func (sessionView) version() int       { return 2 }
func (sessionView) skipsUnknown() bool { return false }

func sessionTable() table[Session]      { return table[Session]{name: "rows"} }
func sessionTimeTable() table[member]   { return table[member]{name: "by_time"} } // by the latest captured event
func openSessionTable() table[member]   { return table[member]{name: "open"} }
func activityKey(s Session) []byte      { return activityKeyOf(s.LastAt, s.ID) }
func activityID(k []byte) (id [16]byte) { copy(id[:], k[len(k)-16:]); return id }

func activityKeyOf(at time.Time, id events.SessionID) []byte {
	return append(binary.BigEndian.AppendUint64(make([]byte, 0, 24), timeBits(at)), id[:]...)
}

func (sessionView) tables() []tableSpec {
	return []tableSpec{sessionTable().spec(showID), sessionTimeTable().spec(showHex), openSessionTable().spec(showID)}
}

type sessionFold struct {
	x    *tx
	rows *cache[events.SessionID, Session]
	was  map[events.SessionID]Session // as the slice found it
}

func (sessionView) fold(x *tx) fold {
	return &sessionFold{x: x, rows: newCache(x, sessionTable(), sessionKey), was: map[events.SessionID]Session{}}
}

func (f *sessionFold) apply(r *record) error {
	if r.session.IsZero() {
		return nil
	}
	s, err := f.row(r)
	if err != nil {
		return err
	}
	return s.hear(r)
}

func (f *sessionFold) row(r *record) (*Session, error) {
	s, err := f.rows.edit(r.session)
	if err != nil {
		return nil, err
	}
	if _, seen := f.was[r.session]; !seen {
		f.was[r.session] = *s
	}
	return s, nil
}

// hear takes over what the session's next record says.
func (s *Session) hear(r *record) error {
	if s.First == 0 {
		s.ID, s.First, s.OpenedAt, s.LastAt = r.session, r.Position, r.OccurredAt, r.OccurredAt
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
func tellSession(s *Session, r *record) error {
	switch r.Kind {
	case events.KindSessionOpened:
		e, ok, err := payloadOf[events.SessionOpened](r)
		if err != nil || !ok {
			return err
		}
		s.Agent, s.AgentSession, s.Project, s.ProjectRoot, s.Cwd = e.Agent, e.AgentSession, e.Project, e.ProjectRoot, e.Cwd
		s.GitRoot, s.GitBranch, s.GitHead, s.Source, s.Transcript = e.GitRoot, e.GitBranch, e.GitHead, e.Source, e.Transcript
	case events.KindSessionClosed:
		e, _, err := payloadOf[events.SessionClosed](r)
		if err != nil {
			return err
		}
		s.ClosedAt, s.CloseCause = r.OccurredAt, e.Cause
	case events.KindSessionRespawned:
		e, ok, err := payloadOf[events.SessionRespawned](r)
		if err != nil || !ok {
			return err
		}
		s.Generation, s.LastRespawn = e.To, respawnOf(r, e)
		addTo(&s.Respawns, e.Cause, 1)
	case events.KindSessionQuarantined:
		e, _, err := payloadOf[events.SessionQuarantined](r)
		if err != nil {
			return err
		}
		s.Quarantined = quarantineOf(r, e, s.Quarantined)
	case events.KindSessionReleased:
		s.Quarantined = nil
	}
	return nil
}

// quarantineOf is the quarantine that r begins, or goes on with.
func quarantineOf(r *record, e events.SessionQuarantined, was *Quarantine) *Quarantine {
	q := &Quarantine{Session: r.session, Since: r.OccurredAt, Until: e.Until, Cause: e.Cause, Trip: e.Trip}
	if was != nil {
		q.Since = was.Since
	}
	return q
}

func respawnOf(r *record, e events.SessionRespawned) *Respawn {
	return &Respawn{
		Session: r.session, Position: r.Position, At: r.OccurredAt, From: e.From, To: e.To, Cause: e.Cause, Limits: e.Limits,
		Counted: e.Counted, Delay: e.Delay,
	}
}

func (f *sessionFold) flush() error {
	if err := f.rows.flush(); err != nil {
		return err
	}
	for _, id := range f.rows.order {
		now, err := f.rows.peek(id)
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
		if err := sessionTimeTable().delete(f.x, activityKey(was)); err != nil {
			return err
		}
	}
	return sessionTimeTable().put(f.x, activityKey(now), member{})
}

func (f *sessionFold) indexOpen(was, now Session) error {
	if was.First != 0 && was.Open() == now.Open() {
		return nil
	}
	if now.Open() {
		return openSessionTable().put(f.x, sessionKey(now.ID), member{})
	}
	return openSessionTable().delete(f.x, sessionKey(now.ID))
}
