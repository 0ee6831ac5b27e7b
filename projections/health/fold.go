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
	streaks *engine.Cache[answerer, Streak]
	now     *engine.Cache[struct{}, status]
}

func (View) Fold(x *engine.Tx) func(*engine.Record) {
	f := &fold{
		x:       x,
		hours:   engine.NewCache(x, hourTable(), spanKey.bytes),
		slots:   engine.NewCache(x, slotTable(), spanKey.bytes),
		streaks: engine.NewCache(x, streakTable(), answerer.bytes),
		now:     engine.NewCache(x, wellTable(), statusKey),
	}
	f.turns = turn.NewFold(x, healthTurnTable(), f.enter)
	x.AtEnd(f.prune)
	return f.apply
}

// prune deletes the slots and hours behind their horizons, also what was just changed there. Which are left does not depend
// on when it ran: horizons only advance.
func (f *fold) prune() {
	if now := f.now.Peek(struct{}{}); now != nil {
		pruneSpans(f.x, slotTable(), now.horizon())
		pruneSpans(f.x, hourTable(), now.hourHorizon())
	}
}

// pruneSpans deletes the spans up to and with last.
func pruneSpans(x *engine.Tx, t engine.Table[spanCount], last int64) {
	c := t.Cursor(x)
	for k, _ := c.First(); k != nil && spanOfKey(k) <= last; k, _ = c.First() {
		c.Delete()
	}
}

func (f *fold) apply(r *engine.Record) {
	switch r.Kind {
	case events.KindTurnStarted:
		engine.Handle(r, f.start)
	case events.KindTurnReceived, events.KindTurnFailed:
		f.end(r)
	case events.KindOutputDropped, events.KindOutputSkipped, events.KindMemoryForgotten:
		f.turns.Apply(r)
	case events.KindObservationParsed, events.KindSummaryParsed:
		f.recordKept(r)
	case events.KindSessionQuarantined, events.KindSessionReleased:
		f.quarantine(r)
	case events.KindSessionRespawned:
		engine.Handle(r, f.respawn)
	case events.KindProviderPaused, events.KindProviderResumed:
		f.pause(r)
	case events.KindDaemonDegraded:
		engine.Handle(r, f.degrade)
	}
}

func (f *fold) start(r *engine.Record, e events.TurnStarted) {
	f.turns.Apply(r)
	id := engine.TurnOf(r, e.Turn)
	f.try(r, answerer{e.Provider, e.Model}, func(until time.Time, trial *Trial) bool { return trial.begin(id, r.OccurredAt, until) })
}

// end enters that a turn has ended. An answer also dates its model's streak.
func (f *fold) end(r *engine.Record) {
	id := r.Turn()
	known := f.turns.Peek(id)
	if known == nil {
		return
	}
	at, s := f.advance(r), f.streak(known.answerer())
	if r.Kind == events.KindTurnReceived {
		s.LastAt = r.RecordedAt
		if s.FirstAt.IsZero() {
			s.FirstAt = r.RecordedAt
		}
	}
	f.try(r, known.answerer(), func(_ time.Time, trial *Trial) bool { return trial.end(id, r) })
	f.turns.Evolve(r, func(t *turnCount) { t.At, t.Era = at, s.Kept })
}

// enter adds what a turn says to the counts, by times.
func (f *fold) enter(t turnCount, by int64) {
	if t.At == 0 {
		return
	}
	t.addToStreak(f.streak(t.answerer()), by)
	f.count(t.answerer(), t.At, func(c *Count) { t.addTo(c, by) })
}

// count changes all counts that something in slot at belongs to. A slot that is not kept any more is left alone.
func (f *fold) count(by answerer, at int64, change func(*Count)) {
	change(&f.streak(by).All)
	countSpan(f.hours, spanKey{hourOf(at), by}, change)
	if now := f.now.Peek(struct{}{}); now != nil && at > now.horizon() {
		countSpan(f.slots, spanKey{at, by}, change)
	}
}

func countSpan(spans *engine.Cache[spanKey, spanCount], key spanKey, change func(*Count)) {
	c := spans.Edit(key)
	c.Provider, c.Model = key.by.provider, key.by.model
	change(&c.Count)
}

func (f *fold) streak(by answerer) *Streak {
	s := f.streaks.Edit(by)
	s.Provider, s.Model = by.provider, by.model
	return s
}

// advance returns the slot of r, which becomes the newest one.
func (f *fold) advance(r *engine.Record) int64 {
	now, at := f.now.Edit(struct{}{}), slotAt(r.RecordedAt)
	now.Newest = max(now.Newest, at)
	return at
}

func (f *fold) recordKept(r *engine.Record) {
	known := f.turns.Peek(r.Turn())
	if known == nil || known.Result == turn.Kept {
		return
	}
	now := f.now.Edit(struct{}{})
	now.LastKept, now.LastKeptAt = r.Position, r.RecordedAt
	f.turns.Apply(r)
	s := f.streak(known.answerer())
	s.Unusable, s.Blank, s.FirstAt = 0, 0, time.Time{}
	s.Kept, s.KeptAt = r.Position, r.RecordedAt
}
