package health

import (
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// quarantine enters that a session's observer was quarantined or released.
func (f *fold) quarantine(r *engine.Record) {
	key := engine.SessionKey(r.Session)
	if r.Kind == events.KindSessionReleased {
		quarantineTable().Delete(f.x, key)
		return
	}
	e, _ := engine.PayloadOf[events.SessionQuarantined](r)
	by := f.asker(r.Correlation)
	var was *Quarantine
	if q, ok := quarantineTable().Get(f.x, key); ok {
		was = &q
	}
	q := QuarantineOf(r, e, was)
	q.At, q.Provider, q.Model = r.OccurredAt, by.provider, by.model
	quarantineTable().Put(f.x, key, *q)
	f.countAt(r, by, func(c *Count) { c.Quarantines++ })
}

// respawn enters that a session got a fresh observer.
func (f *fold) respawn(r *engine.Record, e events.SessionRespawned) {
	by, now := f.asker(r.Correlation), f.now.Edit(struct{}{})
	now.Respawn = RespawnOf(r, e)
	now.Respawn.Provider, now.Respawn.Model = by.provider, by.model
	f.countAt(r, by, func(c *Count) { addTo(&c.Respawns, e.Cause, 1) })
}

// pause enters that a provider is left alone or asked again.
func (f *fold) pause(r *engine.Record) {
	provider, ok := r.Stream.Provider()
	if !ok || provider == "" {
		return
	}
	if r.Kind == events.KindProviderResumed {
		pauseTable().Delete(f.x, []byte(provider))
		return
	}
	e, _ := engine.PayloadOf[events.ProviderPaused](r)
	by := f.asker(e.Turn)
	by.provider = provider
	p := Pause{Provider: provider, Model: by.model, Class: e.Class, Since: r.OccurredAt, At: r.OccurredAt, Until: e.Until, Probe: e.Probe}
	was, on := pauseTable().Get(f.x, []byte(provider))
	if on {
		p.Since = was.Since
	}
	pauseTable().Put(f.x, []byte(provider), p)
	if !on {
		f.countAt(r, by, func(c *Count) { c.Holds++ })
	}
}

// try has a turn of r's session change how the provider that it asks, and the session's observer, are tried, if they are
// held back. What change leaves alone it returns false for.
func (f *fold) try(r *engine.Record, by answerer, change func(until time.Time, t *Trial) bool) {
	if pause, ok := pauseTable().Get(f.x, []byte(by.provider)); ok && change(pause.Until, &pause.Trial) {
		pauseTable().Put(f.x, []byte(by.provider), pause)
	}
	if q, ok := quarantineTable().Get(f.x, engine.SessionKey(r.Session)); ok && change(q.Until, &q.Trial) {
		quarantineTable().Put(f.x, engine.SessionKey(r.Session), q)
	}
}

// begin enters a turn that was started at a time, if what was held back until another may be tried by then. One that was
// under way before says nothing of it.
func (t *Trial) begin(turn events.ID, at, until time.Time) bool {
	if at.Before(until) {
		return false
	}
	t.Turn = turn
	return true
}

// end enters how a turn ended, if it is the one that tries. It goes by kinds alone: what a failure says may be erased.
func (t *Trial) end(turn events.ID, r *engine.Record) bool {
	if t.Turn != turn {
		return false
	}
	t.Turn = events.ID{}
	if r.Kind == events.KindTurnReceived {
		t.Answered = true
		return true
	}
	t.Ended = r.RecordedAt
	return true
}

// asker is who was asked in a turn; the zero answerer where that is not known.
func (f *fold) asker(turn events.ID) answerer {
	if t := f.turns.Peek(turn); t != nil {
		return t.answerer()
	}
	return answerer{}
}

// countAt counts something that is no turn.
func (f *fold) countAt(r *engine.Record, by answerer, change func(*Count)) {
	f.count(by, f.advance(r), change)
}

func (f *fold) degrade(r *engine.Record, e events.DaemonDegraded) {
	now := f.now.Edit(struct{}{})
	switch {
	case e.Cleared:
		now.Degraded, now.DegradedAt = "", time.Time{}
	case now.Degraded == "":
		now.Degraded, now.DegradedAt = e.Why, r.OccurredAt
	default:
		now.Degraded = e.Why
	}
}

// QuarantineOf is the quarantine that r begins, or goes on with.
func QuarantineOf(r *engine.Record, e events.SessionQuarantined, was *Quarantine) *Quarantine {
	q := &Quarantine{Session: r.Session, Since: r.OccurredAt, Until: e.Until, Cause: e.Cause, Trip: e.Trip}
	if was != nil {
		q.Since = was.Since
	}
	return q
}

// RespawnOf is a respawn as the views keep it.
func RespawnOf(r *engine.Record, e events.SessionRespawned) *Respawn {
	return &Respawn{
		Session: r.Session, Position: r.Position, At: r.OccurredAt, From: e.From, To: e.To, Cause: e.Cause, Limits: e.Limits,
		Counted: e.Counted, Delay: e.Delay,
	}
}
