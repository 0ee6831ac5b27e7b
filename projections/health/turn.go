package health

import (
	"math/bits"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/turn"
)

// turnCount is what one turn has added to the counts, so that it can be taken back.
type turnCount struct {
	Provider string          `cbor:"1,keyasint,omitempty" json:"provider"`
	Model    string          `cbor:"2,keyasint,omitempty" json:"model,omitempty"`
	At       int64           `cbor:"3,keyasint,omitempty" json:"at,omitempty"` // slot in which it ended; 0: not yet
	Result   turn.Result     `cbor:"4,keyasint,omitempty" json:"result,omitempty"`
	Why      string          `cbor:"5,keyasint,omitempty" json:"why,omitempty"` // the key it is counted under
	Idle     bool            `cbor:"6,keyasint,omitempty" json:"idle,omitempty"`
	Usage    events.Usage    `cbor:"7,keyasint,omitzero" json:"usage"`
	Latency  int             `cbor:"8,keyasint,omitempty" json:"latency,omitempty"` // its slot, from 1; 0: unknown
	Notable  bool            `cbor:"9,keyasint,omitempty" json:"notable,omitempty"` // it settled an edit, a commit or a failed test
	Era      events.Position `cbor:"10,keyasint,omitempty" json:"era,omitempty"`    // the kept answer that was its model's last when it ended
	Restated bool            `cbor:"11,keyasint,omitempty" json:"-"`                // its end was forgotten, and its cost is what that MemoryForgotten states
}

func (t turnCount) answerer() answerer { return answerer{t.Provider, t.Model} }

// addTo counts the turn by times: 1 enters what it says, -1 takes it back.
func (t turnCount) addTo(c *Count, by int64) {
	if t.At != 0 {
		c.Turns += by
	}
	switch t.Result {
	case turn.Kept:
		c.Kept += by
	case turn.Skipped:
		addTo(&c.Skipped, t.Why, by)
	case turn.Dropped:
		addTo(&c.Dropped, t.Why, by)
	case turn.Failed:
		addTo(&c.Failures, t.Why, by)
	}
	if t.Idle {
		c.Idle += by
	}
	c.Usage.Input += by * t.Usage.Input
	c.Usage.Cached += by * t.Usage.Cached
	c.Usage.Output += by * t.Usage.Output
	if t.Latency > 0 {
		c.Latencies[t.Latency-1] += by
	}
}

// addToStreak counts the turn among those since the last kept one, unless one was kept since it ended. A dropped answer
// whose event was erased says no more whether it was blank, and counts as neither.
func (t turnCount) addToStreak(s *Streak, by int64) {
	if t.Era != s.Kept {
		return
	}
	switch {
	case t.Idle && t.Notable:
		s.Blank += by
	case t.Result == turn.Dropped && !t.Idle && t.Why != "":
		s.Unusable += by
	}
}

// Begin takes over who is asked, and whether about something notable.
func (t *turnCount) Begin(_ *engine.Record, e events.TurnStarted) {
	*t = turnCount{Provider: e.Provider, Model: e.Model, Notable: e.Notable > 0}
}

// Evolve takes over what r says of the turn's end, or of what came of it.
func (t *turnCount) Evolve(r *engine.Record) {
	if r.Kind == events.KindTurnReceived {
		if e, ok := engine.PayloadOf[events.TurnReceived](r); ok {
			t.Usage, t.Latency = e.Usage, latencySlot(e.LatencyMS)
		}
		return
	}
	t.Result, t.Why, t.Idle = turn.ResultOf(r.Kind), "", false
	if t.Result == turn.Kept {
		return
	}
	e, _ := engine.PayloadOf[events.Event](r)
	switch e := e.(type) {
	case events.TurnFailed:
		t.Why = string(e.Class)
	case events.OutputDropped:
		t.Why, t.Idle = e.Class+"/"+e.Reason, e.Blank()
	case events.OutputSkipped:
		t.Why, t.Idle = e.Reason, e.Reason == events.ReasonEmpty
	}
}

// Forget takes back what the payload of the record of h had said, but for what s says of it where it is stated.
func (t *turnCount) Forget(h events.Header, s events.TurnSpent, stated bool) {
	end := h.Kind == events.KindTurnReceived || h.Kind == events.KindTurnFailed
	if end && t.Restated && !stated {
		// it is known from before
		return
	}
	switch h.Kind {
	case events.KindTurnReceived:
		t.Usage, t.Latency, t.Restated = s.Bill.Usage, 0, stated
	case events.KindTurnFailed:
		t.Why, t.Restated = string(s.Class), stated
	case events.KindOutputDropped, events.KindOutputSkipped:
		t.Why, t.Idle = "", false
	}
}

// latencySlot is the place, from 1, of a latency among Count.Latencies.
func latencySlot(ms int64) int {
	return min(bits.Len64(uint64(max(ms, 0)))+1, LatencySlots)
}
