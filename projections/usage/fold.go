package usage

import (
	"cmp"
	"encoding/json"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/turn"
)

// turnCount is what one turn has added to the counts, so that it can be taken back.
type turnCount struct {
	key      cellKey
	asked    string // model; key has the one that answered
	captured int64  // bytes that it is about; count has what was sent, where that is known
	left     bool   // what it cost is told by what forgot its end
	count    Count
	// A turn is counted once key.result is known; until then count.Turns is 0 while it runs, and 1 from its answer on.
}

// counted reports whether what came of t is known.
func (t turnCount) counted() bool { return t.key.result != "" && t.count.Turns > 0 }

// MarshalJSON shows the turn to people.
func (t turnCount) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		About string `json:"about"`
		Count Count  `json:"count"`
	}{t.key.String(), t.count})
}

type fold struct {
	cells    *engine.Cache[cellKey, Count]
	sessions *engine.Cache[sumKey, Count]
	turns    *turn.Fold[turnCount]
}

func (View) Fold(x *engine.Tx) engine.Fold {
	f := &fold{
		cells:    engine.NewCache(x, cellTable(), cellKey.bytes),
		sessions: engine.NewCache(x, sessionTable(), sumKey.bytes),
	}
	f.turns = turn.NewFold(x, turnTable(), f.enter)
	return f
}

func (f *fold) Flush() error {
	if err := f.turns.Flush(); err != nil {
		return err
	}
	if err := flushSums(f.cells); err != nil {
		return err
	}
	return flushSums(f.sessions)
}

// flushSums writes sums. One without a turn is none.
func flushSums[K comparable](c *engine.Cache[K, Count]) error {
	if err := c.DeleteIf(func(u Count) bool { return u.Turns == 0 }); err != nil {
		return err
	}
	return c.Flush()
}

func (f *fold) Apply(r *engine.Record) error {
	switch r.Kind {
	case events.KindTurnStarted:
		return f.start(r)
	case events.KindTurnReceived:
		return f.receive(r)
	case events.KindTurnFailed:
		return f.fail(r)
	case events.KindOutputDropped:
		return f.tell(r, turn.Dropped)
	case events.KindOutputSkipped:
		return f.tell(r, turn.Skipped)
	case events.KindObservationParsed, events.KindSummaryParsed:
		return f.tell(r, turn.Kept)
	case events.KindMemoryForgotten:
		return f.turns.Forget(r, (*turnCount).forget)
	}
	return nil
}

func (f *fold) start(r *engine.Record) error {
	e, ok, err := engine.PayloadOf[events.TurnStarted](r)
	if err != nil || !ok {
		return err
	}
	t := turnCount{
		key:   cellKey{session: r.Session, probe: e.Probe, by: answerer{provider: e.Provider, model: e.Model}},
		asked: e.Model, captured: int64(e.PromptBytes),
	}
	if e.Attempt > 1 {
		t.count.Again = 1
	}
	return f.turns.Start(engine.TurnOf(r, e.Turn), t)
}

// receive enters that a turn was answered, and what the answer cost.
func (f *fold) receive(r *engine.Record) error {
	e, _, err := engine.PayloadOf[events.TurnReceived](r)
	if err != nil {
		return err
	}
	return f.turns.Change(engine.TurnOf(r, e.Turn), func(t *turnCount) {
		t.end(r)
		t.paid(e.Bill())
	})
}

func (f *fold) fail(r *engine.Record) error {
	e, _, err := engine.PayloadOf[events.TurnFailed](r)
	if err != nil {
		return err
	}
	return f.turns.Change(engine.TurnOf(r, e.Turn), func(t *turnCount) {
		t.end(r)
		t.failed(e.Bill(), e.Class)
	})
}

// tell enters what came of an answer.
func (f *fold) tell(r *engine.Record, came turn.Result) error {
	id, err := r.Turn()
	if err != nil {
		return err
	}
	return f.turns.Change(id, func(t *turnCount) { t.key.result, t.key.failure = came, "" })
}

func (t *turnCount) end(r *engine.Record) {
	t.count.Turns, t.key.quarter = 1, quarterAt(r.RecordedAt)
}

// paid takes over what a turn cost, and who answered.
func (t *turnCount) paid(b events.Bill) {
	c, u := &t.count, b.Usage
	c.Input, c.Cached, c.Output, c.Calls, c.Stated = u.Input, u.Cached, u.Output, int64(b.Calls), billionths(b.Cost)
	c.Unstated, c.Untold, c.PromptBytes = b.Open(), 0, cmp.Or(max(b.Sent, 0), t.captured)
	if free := b.Told && b.Cost == 0; u == (events.Usage{}) && !free {
		c.Untold = 1
	}
	t.key.by.model, t.key.by.asked = cmp.Or(b.Model, t.asked), ""
	if t.key.by.model != t.asked {
		t.key.by.asked = t.asked
	}
}

// failed enters that a turn failed, and what it cost all the same.
func (t *turnCount) failed(b events.Bill, class events.FailureClass) {
	t.paid(b)
	if class == events.FailSetup && b.Calls == 0 {
		t.count.Untold = 0 // nobody was asked
	}
	t.key.result, t.key.failure = turn.Failed, string(class)
}

// forget takes back what the payload of a record of that kind had said, but for what s says of it where it is told.
func (t *turnCount) forget(kind events.Kind, s events.TurnSpent, told bool) {
	if end := kind == events.KindTurnReceived || kind == events.KindTurnFailed; end && (told || !t.left) {
		t.leave(kind, s)
		t.left = told
	}
}

// leave has s alone say what a turn cost whose end was of that kind.
func (t *turnCount) leave(kind events.Kind, s events.TurnSpent) {
	if kind == events.KindTurnFailed {
		t.failed(s.Bill, s.Class)
		return
	}
	s.Bill.Calls = max(1, s.Bill.Calls)
	t.paid(s.Bill)
}

// enter adds what a turn cost to the sums that it is in, by times.
func (f *fold) enter(t turnCount, by int64) error {
	if !t.counted() {
		return nil
	}
	cell, err := f.cells.Edit(t.key)
	if err != nil {
		return err
	}
	cell.Add(t.count, by)
	sum, err := f.sessions.Edit(sumKey{t.key.session, t.key.by})
	if err != nil {
		return err
	}
	sum.Add(t.count, by)
	return nil
}
