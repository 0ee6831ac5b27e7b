package projections

import (
	"cmp"
	"encoding/json"

	"github.com/cmemd/cmemd/events"
)

// usageTurn is what one turn has added to the counts, so that it can be taken back.
type usageTurn struct {
	key   usageKey
	asked string // model; key has the one that answered
	count UsageCount
	// A turn is counted once key.result is known; until then count.Turns is 0 while it runs, and 1 from its answer on.
}

// counted reports whether what came of t is known.
func (t usageTurn) counted() bool { return t.key.result != "" && t.count.Turns > 0 }

// MarshalJSON shows the turn to people.
func (t usageTurn) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		About string     `json:"about"`
		Count UsageCount `json:"count"`
	}{t.key.String(), t.count})
}

type usageFold struct {
	x        *tx
	cells    *cache[usageKey, UsageCount]
	sessions *cache[usageSession, UsageCount]
	turns    *cache[events.ID, usageTurn]
}

func (usageView) fold(x *tx) fold {
	return &usageFold{
		x:        x,
		cells:    newCache(x, usageCellTable(), usageKey.bytes),
		sessions: newCache(x, usageSessionTable(), usageSession.bytes),
		turns:    newCache(x, usageTurnTable(), idKey),
	}
}

func (f *usageFold) flush() error {
	if err := f.turns.flush(); err != nil {
		return err
	}
	if err := flushUsage(f.cells); err != nil {
		return err
	}
	return flushUsage(f.sessions)
}

// flushUsage writes sums. One without a turn is none: what was taken back leaves no trace.
func flushUsage[K comparable](c *cache[K, UsageCount]) error {
	for _, k := range c.order {
		s := c.slots[k]
		if !s.change || s.value.Turns != 0 {
			continue
		}
		s.change, s.exists = false, false
		if err := c.table.delete(c.x, c.key(k)); err != nil {
			return err
		}
	}
	return c.flush()
}

func (f *usageFold) apply(r *record) error {
	switch r.Kind {
	case events.KindTurnStarted:
		return f.start(r)
	case events.KindTurnReceived:
		return f.receive(r)
	case events.KindTurnFailed:
		return f.fail(r)
	case events.KindOutputDropped:
		return f.tell(r, TurnDropped)
	case events.KindOutputSkipped:
		return f.tell(r, TurnSkipped)
	case events.KindObservationParsed, events.KindSummaryParsed:
		return f.tell(r, TurnKept)
	case events.KindMemoryForgotten:
		e, ok, err := payloadOf[events.MemoryForgotten](r)
		if err != nil || !ok {
			return err
		}
		return forgottenRecords(f.x, e, f.forget)
	}
	return nil
}

func (f *usageFold) start(r *record) error {
	e, ok, err := payloadOf[events.TurnStarted](r)
	if err != nil || !ok {
		return err
	}
	id := turnOf(r, e.Turn)
	if known, err := f.turns.peek(id); err != nil || known != nil {
		return err
	}
	t, err := f.turns.edit(id)
	if err != nil {
		return err
	}
	*t = usageTurn{key: usageKey{session: r.session, probe: e.Probe, by: asked{e.Provider, e.Model}}, asked: e.Model}
	t.count.PromptBytes = int64(e.PromptBytes)
	if e.Attempt > 1 {
		t.count.Again = 1
	}
	return nil
}

// receive enters that a turn was answered, and what the answer cost.
func (f *usageFold) receive(r *record) error {
	e, _, err := payloadOf[events.TurnReceived](r)
	if err != nil {
		return err
	}
	return f.change(turnOf(r, e.Turn), func(t *usageTurn) {
		t.end(r)
		t.paid(e.Usage, e.Cost, max(1, e.Calls), e.Model)
	})
}

func (f *usageFold) fail(r *record) error {
	e, _, err := payloadOf[events.TurnFailed](r)
	if err != nil {
		return err
	}
	return f.change(turnOf(r, e.Turn), func(t *usageTurn) {
		t.end(r)
		t.paid(e.Usage, e.Cost, e.Calls, e.Model)
		if e.Class == events.FailSetup && e.Calls == 0 {
			t.count.Untold = 0 // nobody was asked
		}
		t.key.result, t.key.failure = TurnFailed, string(e.Class)
	})
}

// tell enters what came of an answer.
func (f *usageFold) tell(r *record, came Result) error {
	id, err := r.turn()
	if err != nil {
		return err
	}
	return f.change(id, func(t *usageTurn) { t.key.result, t.key.failure = came, "" })
}

func (t *usageTurn) end(r *record) {
	t.count.Turns, t.key.quarter = 1, quarterAt(r.RecordedAt)
}

// paid takes over what a turn cost, and who answered.
func (t *usageTurn) paid(u events.Usage, usd float64, calls int, model string) {
	c := &t.count
	c.Input, c.Cached, c.Output, c.Calls, c.Stated = u.Input, u.Cached, u.Output, int64(calls), billionths(usd)
	c.Unstated, c.Untold = u, 0
	if c.Stated > 0 {
		c.Unstated = events.Usage{}
	}
	if u == (events.Usage{}) {
		c.Untold = 1
	}
	t.key.by.model = cmp.Or(model, t.asked)
}

// forget takes back what the payload of a record had said.
func (f *usageFold) forget(h events.Header) error {
	switch h.Kind {
	case events.KindTurnReceived:
		return f.change(h.Correlation, func(t *usageTurn) { t.paid(events.Usage{}, 0, 1, "") })
	case events.KindTurnFailed:
		return f.change(h.Correlation, func(t *usageTurn) {
			t.paid(events.Usage{}, 0, 0, "")
			t.key.failure = ""
		})
	}
	return nil
}

// change alters a turn, and the sums that it is in with it. Turns that were never started are passed over: nobody knows
// who was asked.
func (f *usageFold) change(id events.ID, alter func(*usageTurn)) error {
	known, err := f.turns.peek(id)
	if err != nil || known == nil {
		return err
	}
	was := *known
	t, err := f.turns.edit(id)
	if err != nil {
		return err
	}
	alter(t)
	if err := f.enter(was, -1); err != nil {
		return err
	}
	return f.enter(*t, +1)
}

func (f *usageFold) enter(t usageTurn, by int64) error {
	if !t.counted() {
		return nil
	}
	cell, err := f.cells.edit(t.key)
	if err != nil {
		return err
	}
	cell.Add(t.count, by)
	sum, err := f.sessions.edit(usageSession{t.key.session, t.key.by})
	if err != nil {
		return err
	}
	sum.Add(t.count, by)
	return nil
}
