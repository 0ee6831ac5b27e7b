package outcomes

import (
	"slices"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// A session asks once more by itself where the first answer to a summary turn was none, and where an answer earned its
// observer a fresh generation. Its state says so of what is owed; here it is folded from the same events by the same
// rules (session.Answers), so that the session is woken at a start, and who waits for answers waits for these.

// answer counts an answer at the inputs that it is about.
func (f *fold) answer(r *engine.Record) {
	known := f.turns.Peek(r.Turn())
	if known == nil {
		return
	}
	for _, p := range known.Settles {
		if in := f.inputs.Peek(p); in != nil && in.asks.Next() != in.asks {
			f.inputs.Edit(p).asks = in.asks.Next()
		}
	}
}

// askAgain notes that a summary turn's answer had no summary, after which its session asks once more if it was the first.
func (f *fold) askAgain(turn events.ID, settles []events.Position) {
	first := slices.ContainsFunc(settles, func(p events.Position) bool {
		in := f.inputs.Peek(p)
		return in != nil && in.asks.First()
	})
	if first {
		f.changeAll(settles, func(in *input) { in.askAgain(turn) })
	}
}

// refresh notes that an answer earned a fresh generation: what it was the first answer to is asked about once more.
func (f *fold) refresh(r *engine.Record, e events.SessionRespawned) {
	t := f.turns.EditExisting(r.Correlation)
	if t == nil || !session.EarnedByOutputs(e) {
		return
	}
	t.Fresh = true
	f.changeAll(t.Settles, func(in *input) {
		if in.asks.First() {
			in.askAgain(r.Correlation)
		}
	})
}

// forgetAgain takes back that a turn's inputs are asked about once more for a reason that was erased: their session, which
// cannot read it either, will not.
func (f *fold) forgetAgain(turn events.ID, t decider) {
	f.changeAll(t.Settles, func(in *input) {
		if in.again == turn && !(t.Fresh && in.asks.First()) {
			in.again = events.ID{}
		}
	})
}
