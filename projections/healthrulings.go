package projections

import (
	"time"

	"github.com/cmemd/cmemd/events"
)

// quarantine enters that a session's observer was stopped or let go.
func (f *healthFold) quarantine(r *record) error {
	key := sessionKey(r.session)
	if r.Kind == events.KindSessionReleased {
		return quarantineTable().delete(f.x, key)
	}
	e, _, err := payloadOf[events.SessionQuarantined](r)
	if err != nil {
		return err
	}
	by, err := f.asker(r.Correlation)
	if err != nil {
		return err
	}
	var was *Quarantine
	if q, ok, err := quarantineTable().get(f.x, key); err != nil {
		return err
	} else if ok {
		was = &q
	}
	q := quarantineOf(r, e, was)
	q.At, q.Provider, q.Model = r.OccurredAt, by.provider, by.model
	if err := quarantineTable().put(f.x, key, *q); err != nil {
		return err
	}
	return f.happened(r, by, func(c *HealthCount) { c.Quarantines++ })
}

// pause enters that a provider is left alone or asked again.
func (f *healthFold) pause(r *record) error {
	provider, ok := r.Stream.Provider()
	if !ok || provider == "" {
		return nil
	}
	if r.Kind == events.KindProviderResumed {
		return pauseTable().delete(f.x, []byte(provider))
	}
	e, _, err := payloadOf[events.ProviderPaused](r)
	if err != nil {
		return err
	}
	by, err := f.asker(e.Turn)
	if err != nil {
		return err
	}
	by.provider = provider
	p := Pause{Provider: provider, Model: by.model, Class: e.Class, Since: r.OccurredAt, At: r.OccurredAt, Until: e.Until, Probe: e.Probe}
	was, ok, err := pauseTable().get(f.x, []byte(provider))
	if err != nil {
		return err
	}
	if ok {
		p.Since = was.Since
	}
	if err := pauseTable().put(f.x, []byte(provider), p); err != nil || ok {
		return err
	}
	return f.happened(r, by, func(c *HealthCount) { c.Holds++ })
}

// asker is who was asked in a turn; the zero asked where that is not known.
func (f *healthFold) asker(turn events.ID) (asked, error) {
	t, err := f.turns.peek(turn)
	if err != nil || t == nil {
		return asked{}, err
	}
	return t.by(), nil
}

// happened counts something that is no turn.
func (f *healthFold) happened(r *record, by asked, change func(*HealthCount)) error {
	at, err := f.advance(r)
	if err != nil {
		return err
	}
	return f.count(by, at, change)
}

func (f *healthFold) degrade(r *record) error {
	e, ok, err := payloadOf[events.DaemonDegraded](r)
	if err != nil || !ok {
		return err
	}
	now, err := f.now.edit(struct{}{})
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
