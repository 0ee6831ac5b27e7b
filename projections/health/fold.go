package health

import (
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/turn"
)

type fold struct {
	x       *engine.Tx
	hours   *engine.Cache[spanKey, spanCount]
	slots   *engine.Cache[spanKey, spanCount]
	turns   *turn.Fold[turnCount, *turnCount]
	streaks *engine.Cache[asked, Streak]
	now     *engine.Cache[struct{}, wellbeing]
}

func (View) Fold(x *engine.Tx) engine.Fold {
	f := &fold{
		x:       x,
		hours:   engine.NewCache(x, hourTable(), spanKey.bytes),
		slots:   engine.NewCache(x, slotTable(), spanKey.bytes),
		streaks: engine.NewCache(x, streakTable(), asked.bytes),
		now:     engine.NewCache(x, wellTable(), wellKey),
	}
	f.turns = turn.NewFold(x, healthTurnTable(), f.enter)
	return f
}

func (f *fold) Flush() error {
	if err := engine.Flush(f.hours, f.slots, f.turns, f.streaks, f.now); err != nil {
		return err
	}
	return f.prune()
}

// prune deletes the slots and hours behind their horizons, also what was just changed there. Which are left does not depend
// on when it ran: horizons only advance.
func (f *fold) prune() error {
	now, err := f.now.Peek(struct{}{})
	if err != nil || now == nil {
		return err
	}
	if err := pruneSpans(f.x, slotTable(), now.horizon()); err != nil {
		return err
	}
	return pruneSpans(f.x, hourTable(), now.hourHorizon())
}

// pruneSpans deletes the spans up to and with last.
func pruneSpans(x *engine.Tx, t engine.Table[spanCount], last int64) error {
	b, err := t.In(x)
	if err != nil {
		return err
	}
	c := b.Cursor()
	for k, _ := c.First(); k != nil && spanOfKey(k) <= last; k, _ = c.First() {
		if err := c.Delete(); err != nil {
			return err
		}
	}
	return nil
}

func (f *fold) Apply(r *engine.Record) error {
	switch r.Kind {
	case events.KindTurnStarted:
		return engine.Handle(r, f.start)
	case events.KindTurnReceived, events.KindTurnFailed:
		return f.end(r)
	case events.KindOutputDropped, events.KindOutputSkipped, events.KindMemoryForgotten:
		return f.turns.Apply(r)
	case events.KindObservationParsed, events.KindSummaryParsed:
		return f.keep(r)
	case events.KindSessionQuarantined, events.KindSessionReleased:
		return f.quarantine(r)
	case events.KindSessionRespawned:
		return engine.Handle(r, f.respawn)
	case events.KindProviderPaused, events.KindProviderResumed:
		return f.pause(r)
	case events.KindDaemonDegraded:
		return engine.Handle(r, f.degrade)
	}
	return nil
}

func (f *fold) start(r *engine.Record, e events.TurnStarted) error {
	if err := f.turns.Apply(r); err != nil {
		return err
	}
	id := engine.TurnOf(r, e.Turn)
	return f.try(r, asked{e.Provider, e.Model}, func(until time.Time, trial *Trial) bool { return trial.begin(id, r.OccurredAt, until) })
}

// end enters that a turn has ended. An answer also dates its model's streak.
func (f *fold) end(r *engine.Record) error {
	id, err := r.Turn()
	if err != nil {
		return err
	}
	known, err := f.turns.Peek(id)
	if err != nil || known == nil {
		return err
	}
	at, err := f.advance(r)
	if err != nil {
		return err
	}
	s, err := f.streak(known.by())
	if err != nil {
		return err
	}
	if r.Kind == events.KindTurnReceived {
		s.LastAt = r.RecordedAt
		if s.FirstAt.IsZero() {
			s.FirstAt = r.RecordedAt
		}
	}
	if err := f.try(r, known.by(), func(_ time.Time, trial *Trial) bool { return trial.end(id, r) }); err != nil {
		return err
	}
	return f.turns.Evolve(r, func(t *turnCount) { t.At, t.Era = at, s.Kept })
}

// enter adds what a turn says to the counts, by times.
func (f *fold) enter(t turnCount, by int64) error {
	if t.At == 0 {
		return nil
	}
	s, err := f.streak(t.by())
	if err != nil {
		return err
	}
	t.addToStreak(s, by)
	return f.count(t.by(), t.At, func(c *Count) { t.addTo(c, by) })
}

// count changes all counts that something in slot at belongs to. A slot that is not kept any more is left alone.
func (f *fold) count(by asked, at int64, change func(*Count)) error {
	s, err := f.streak(by)
	if err != nil {
		return err
	}
	change(&s.All)
	if err := countSpan(f.hours, spanKey{hourOf(at), by}, change); err != nil {
		return err
	}
	now, err := f.now.Peek(struct{}{})
	if err != nil || now == nil || at <= now.horizon() {
		return err
	}
	return countSpan(f.slots, spanKey{at, by}, change)
}

func countSpan(spans *engine.Cache[spanKey, spanCount], key spanKey, change func(*Count)) error {
	c, err := spans.Edit(key)
	if err != nil {
		return err
	}
	c.Provider, c.Model = key.by.provider, key.by.model
	change(&c.Count)
	return nil
}

func (f *fold) streak(by asked) (*Streak, error) {
	s, err := f.streaks.Edit(by)
	if err != nil {
		return nil, err
	}
	s.Provider, s.Model = by.provider, by.model
	return s, nil
}

// advance returns the slot of r, which becomes the newest one.
func (f *fold) advance(r *engine.Record) (int64, error) {
	now, err := f.now.Edit(struct{}{})
	if err != nil {
		return 0, err
	}
	at := slotAt(r.RecordedAt)
	now.Newest = max(now.Newest, at)
	return at, nil
}

func (f *fold) keep(r *engine.Record) error {
	id, err := r.Turn()
	if err != nil {
		return err
	}
	known, err := f.turns.Peek(id)
	if err != nil || known == nil || known.Result == turn.Kept {
		return err
	}
	now, err := f.now.Edit(struct{}{})
	if err != nil {
		return err
	}
	now.LastKept, now.LastKeptAt = r.Position, r.RecordedAt
	if err := f.turns.Apply(r); err != nil {
		return err
	}
	s, err := f.streak(known.by())
	if err != nil {
		return err
	}
	s.Unusable, s.Blank, s.FirstAt = 0, 0, time.Time{}
	s.Kept, s.KeptAt = r.Position, r.RecordedAt
	return nil
}
