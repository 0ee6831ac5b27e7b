package sessions

import (
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/health"
)

type fold struct {
	x    *engine.Tx
	rows *engine.Cache[partKey, Session]
	was  map[partKey]Session // as the slice found it
}

func (View) Fold(x *engine.Tx) func(*engine.Record) {
	f := &fold{x: x, rows: engine.NewCache(x, table(), partKey.bytes), was: map[partKey]Session{}}
	x.AtEnd(f.indexAll)
	return f.apply
}

func (f *fold) apply(r *engine.Record) {
	if r.Session.IsZero() {
		return
	}
	key := partKey{r.Session, r.Home.Log}
	s := f.rows.Edit(key)
	if _, seen := f.was[key]; !seen {
		f.was[key] = *s
	}
	s.evolve(r)
}

// evolve takes over what the part's next record says.
func (s *Session) evolve(r *engine.Record) {
	if s.First == 0 {
		s.ID, s.Log, s.First, s.OpenedAt, s.LastAt = r.Session, r.Home.Log, r.Position, r.OccurredAt, r.OccurredAt
	}
	s.Last = r.Position
	if t, _ := r.Kind.Traits(); t.Reported {
		s.ClosedAt, s.CloseCause = time.Time{}, ""
		if r.OccurredAt.After(s.LastAt) {
			s.LastAt = r.OccurredAt
		}
	}
	countSession(s, r.Kind)
	applyPayload(s, r)
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

// applyPayload takes over what r's payload says of the session.
func applyPayload(s *Session, r *engine.Record) {
	switch r.Kind {
	case events.KindSessionOpened:
		e, ok := engine.PayloadOf[events.SessionOpened](r)
		if !ok {
			return
		}
		s.Agent, s.AgentSession, s.Project, s.ProjectRoot, s.Cwd = e.Agent, e.AgentSession, e.Project, r.Root(e.ProjectRoot), e.Cwd
		s.GitRoot, s.GitBranch, s.GitHead, s.Source, s.Transcript = e.GitRoot, e.GitBranch, e.GitHead, e.Source, e.Transcript
	case events.KindSessionClosed:
		e, _ := engine.PayloadOf[events.SessionClosed](r)
		s.ClosedAt, s.CloseCause = r.OccurredAt, e.Cause
	case events.KindSessionRespawned:
		e, ok := engine.PayloadOf[events.SessionRespawned](r)
		if !ok {
			return
		}
		s.Generation, s.LastRespawn = e.To, health.RespawnOf(r, e)
		if s.Respawns == nil {
			s.Respawns = map[string]int64{}
		}
		s.Respawns[e.Cause]++
	case events.KindSessionQuarantined:
		e, _ := engine.PayloadOf[events.SessionQuarantined](r)
		s.Quarantined = health.QuarantineOf(r, e, s.Quarantined)
	case events.KindSessionReleased:
		s.Quarantined = nil
	}
}

// indexAll brings the lists of sessions up to what the slice has made of them.
func (f *fold) indexAll() {
	for _, id := range f.rows.Order {
		f.index(f.was[id], *f.rows.Peek(id))
	}
}

func (f *fold) index(was, now Session) {
	f.indexOpen(was, now)
	if was.First != 0 && was.LastAt.Equal(now.LastAt) {
		return
	}
	if was.First != 0 {
		timeTable().Delete(f.x, activityKey(was))
	}
	timeTable().Put(f.x, activityKey(now), engine.Member{})
}

func (f *fold) indexOpen(was, now Session) {
	switch {
	case f.x.Foreign(now.Log) || was.First != 0 && was.Open() == now.Open(): // another machine's are not ours to go on with
	case now.Open():
		openSessionTable().Put(f.x, engine.SessionKey(now.ID), engine.Member{})
	default:
		openSessionTable().Delete(f.x, engine.SessionKey(now.ID))
	}
}
