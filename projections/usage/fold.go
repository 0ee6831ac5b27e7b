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
	restated bool   // its end was forgotten, and its cost is what that MemoryForgotten states
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
	cells *engine.Cache[cellKey, Count]
	turns *turn.Fold[turnCount, *turnCount]
}

func (View) Fold(x *engine.Tx) func(*engine.Record) {
	f := &fold{cells: engine.NewCache(x, cellTable(), cellKey.bytes).DeleteIf(Count.empty)}
	f.turns = turn.NewFold(x, turnTable(), f.enter)
	return f.turns.Apply
}

// empty is a sum without a turn, which is none.
func (c Count) empty() bool { return c.Turns == 0 }

// Begin takes over who is asked, and about how much.
func (t *turnCount) Begin(r *engine.Record, e events.TurnStarted) {
	*t = turnCount{
		key:   cellKey{session: r.Session, probe: e.Probe, by: answerer{provider: e.Provider, model: e.Model}},
		asked: e.Model, captured: int64(e.PromptBytes),
	}
	if e.Attempt > 1 {
		t.count.Again = 1
	}
}

// Evolve enters that a turn was answered or failed, and what that cost, or what came of the answer.
func (t *turnCount) Evolve(r *engine.Record) {
	switch r.Kind {
	case events.KindTurnReceived:
		e, _ := engine.PayloadOf[events.TurnReceived](r)
		t.end(r)
		t.paid(e.Bill())
	case events.KindTurnFailed:
		e, _ := engine.PayloadOf[events.TurnFailed](r)
		t.end(r)
		t.failed(e.Bill(), e.Class)
	default:
		t.key.result, t.key.failure = turn.ResultOf(r.Kind), ""
	}
}

func (t *turnCount) end(r *engine.Record) {
	t.count.Turns, t.key.quarter = 1, quarterAt(r.RecordedAt)
}

// paid takes over what a turn cost, and who answered.
func (t *turnCount) paid(b events.Bill) {
	c, u := &t.count, b.Usage
	c.Input, c.Cached, c.Output, c.Calls, c.Stated = u.Input, u.Cached, u.Output, int64(b.Calls), billionths(b.Cost)
	c.Unstated, c.Unmetered, c.PromptBytes = b.UncostedUsage(), 0, cmp.Or(max(b.SentBytes, 0), t.captured)
	if free := b.CostStated && b.Cost == 0; u == (events.Usage{}) && !free {
		c.Unmetered = 1
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
		t.count.Unmetered = 0 // nobody was asked
	}
	t.key.result, t.key.failure = turn.Failed, string(class)
}

// Forget takes back what the payload of the record of h had said, but for what s says of it where it is stated.
func (t *turnCount) Forget(h events.Header, s events.TurnSpent, stated bool) {
	if t.restated && !stated {
		// it is known from before
		return
	}
	switch h.Kind {
	case events.KindTurnReceived:
		s.Bill.Calls = max(1, s.Bill.Calls)
		t.paid(s.Bill)
		t.restated = stated
	case events.KindTurnFailed:
		t.failed(s.Bill, s.Class)
		t.restated = stated
	}
}

// enter adds what a turn cost to the sums that it is in, by times.
func (f *fold) enter(t turnCount, by int64) {
	if t.counted() {
		f.cells.Edit(t.key).Add(t.count, by)
	}
}
