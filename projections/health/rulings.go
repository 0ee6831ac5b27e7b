package health

import (
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// quarantine enters that a session's observer was stopped or let go.
func (f *fold) quarantine(r *engine.Record) error {
	key := engine.SessionKey(r.Session)
	if r.Kind == events.KindSessionReleased {
		return quarantineTable().Delete(f.x, key)
	}
	e, _, err := engine.PayloadOf[events.SessionQuarantined](r)
	if err != nil {
		return err
	}
	by, err := f.asker(r.Correlation)
	if err != nil {
		return err
	}
	var was *Quarantine
	if q, ok, err := quarantineTable().Get(f.x, key); err != nil {
		return err
	} else if ok {
		was = &q
	}
	q := QuarantineOf(r, e, was)
	q.At, q.Provider, q.Model = r.OccurredAt, by.provider, by.model
	if err := quarantineTable().Put(f.x, key, *q); err != nil {
		return err
	}
	return f.happened(r, by, func(c *Count) { c.Quarantines++ })
}

// respawn enters that a session got a fresh observer.
func (f *fold) respawn(r *engine.Record, e events.SessionRespawned) error {
	by, err := f.asker(r.Correlation)
	if err != nil {
		return err
	}
	now, err := f.now.Edit(struct{}{})
	if err != nil {
		return err
	}
	now.Respawn = RespawnOf(r, e)
	now.Respawn.Provider, now.Respawn.Model = by.provider, by.model
	return f.happened(r, by, func(c *Count) { addTo(&c.Respawns, e.Cause, 1) })
}

// pause enters that a provider is left alone or asked again.
func (f *fold) pause(r *engine.Record) error {
	provider, ok := r.Stream.Provider()
	if !ok || provider == "" {
		return nil
	}
	if r.Kind == events.KindProviderResumed {
		return pauseTable().Delete(f.x, []byte(provider))
	}
	e, _, err := engine.PayloadOf[events.ProviderPaused](r)
	if err != nil {
		return err
	}
	by, err := f.asker(e.Turn)
	if err != nil {
		return err
	}
	by.provider = provider
	p := Pause{Provider: provider, Model: by.model, Class: e.Class, Since: r.OccurredAt, At: r.OccurredAt, Until: e.Until, Probe: e.Probe}
	was, ok, err := pauseTable().Get(f.x, []byte(provider))
	if err != nil {
		return err
	}
	if ok {
		p.Since = was.Since
	}
	if err := pauseTable().Put(f.x, []byte(provider), p); err != nil || ok {
		return err
	}
	return f.happened(r, by, func(c *Count) { c.Holds++ })
}

// try has a turn of r's session change how the provider that it asks, and the session's observer, are tried, if they are
// held back. What change leaves alone it returns false for.
func (f *fold) try(r *engine.Record, by asked, change func(until time.Time, t *Trial) bool) error {
	pause, ok, err := pauseTable().Get(f.x, []byte(by.provider))
	if err == nil && ok && change(pause.Until, &pause.Trial) {
		err = pauseTable().Put(f.x, []byte(by.provider), pause)
	}
	if err != nil {
		return err
	}
	q, ok, err := quarantineTable().Get(f.x, engine.SessionKey(r.Session))
	if err == nil && ok && change(q.Until, &q.Trial) {
		err = quarantineTable().Put(f.x, engine.SessionKey(r.Session), q)
	}
	return err
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

// asker is who was asked in a turn; the zero asked where that is not known.
func (f *fold) asker(turn events.ID) (asked, error) {
	t, err := f.turns.Peek(turn)
	if err != nil || t == nil {
		return asked{}, err
	}
	return t.by(), nil
}

// happened counts something that is no turn.
func (f *fold) happened(r *engine.Record, by asked, change func(*Count)) error {
	at, err := f.advance(r)
	if err != nil {
		return err
	}
	return f.count(by, at, change)
}

func (f *fold) degrade(r *engine.Record, e events.DaemonDegraded) error {
	now, err := f.now.Edit(struct{}{})
	if err != nil {
		return err
	}
	switch {
	case e.Cleared:
		now.Degraded, now.DegradedAt = "", time.Time{}
	case now.Degraded == "":
		now.Degraded, now.DegradedAt = e.Why, r.OccurredAt
	default:
		now.Degraded = e.Why
	}
	return nil
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
