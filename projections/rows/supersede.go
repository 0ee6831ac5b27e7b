package rows

import (
	"slices"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/turn"
)

// A turn's rows are replaced when every input that it settled has been decided by later turns, and at least one of these
// kept something: a later output that found nothing worth recording takes nothing away by itself. A turn decides if it
// kept something, or said in the agreed form that there is nothing to record. A blank answer decides nothing here, though
// its inputs' outcome is skipped. What was forgotten nobody can be asked about again, so it is not waited for.

// turnState is a turn as far as its rows depend on it.
type turnState struct {
	Settles  []events.Position `cbor:"1,keyasint,omitempty" json:"settles"`
	Rows     []events.ID       `cbor:"2,keyasint,omitempty" json:"rows,omitempty"`
	Ended    events.Position   `cbor:"3,keyasint,omitempty" json:"ended,omitempty"` // first record that kept something, or skipped
	Kept     bool              `cbor:"4,keyasint,omitempty" json:"kept,omitempty"`
	Replaced bool              `cbor:"5,keyasint,omitempty" json:"replaced,omitempty"`
	Wanted   []events.ID       `cbor:"6,keyasint,omitempty" json:"wanted,omitempty"` // requests to forget of what it was asked about, open as it began
}

// inputState is an input as far as rows depend on it.
type inputState struct {
	Decided events.Position `cbor:"1,keyasint,omitempty" json:"decided,omitempty"` // by the latest turn that did
	Kept    events.Position `cbor:"2,keyasint,omitempty" json:"kept,omitempty"`    // by the latest turn that kept it
	Turns   []events.ID     `cbor:"3,keyasint,omitempty" json:"turns,omitempty"`   // that kept it, oldest first

	Forgotten bool `cbor:"4,keyasint,omitempty" json:"forgotten,omitempty"`
}

func (f *fold) applyTurn(r *engine.Record) {
	switch r.Kind {
	case events.KindTurnStarted:
		turn.Start(f.turnOf, r, func(t *turnState, e events.TurnStarted) {
			t.Settles, t.Wanted = e.Settles, f.wanted(e.Settles, e.Reads)
		})
	case events.KindObservationParsed, events.KindSummaryParsed:
		f.decide(r, true)
	case events.KindOutputSkipped:
		if e, ok := engine.PayloadOf[events.OutputSkipped](r); !ok || e.Reason != events.ReasonEmpty {
			f.decide(r, false)
		}
	}
}

// decide notes that r's turn kept or skipped what it settled, and replaces what earlier turns gave for all of that.
func (f *fold) decide(r *engine.Record, kept bool) {
	id := r.Turn()
	turn := f.turnOf.Peek(id)
	if turn == nil || turn.Kept || turn.Ended != 0 && !kept {
		return
	}
	turn = f.turnOf.Edit(id)
	turn.Ended, turn.Kept = r.Position, kept
	for _, old := range f.settle(id, *turn) {
		f.replaceIfDone(r.Position, old)
	}
}

// settle notes the turn's decision at its inputs, and returns the other turns that had kept some of them.
func (f *fold) settle(id events.ID, turn turnState) []events.ID {
	var earlier []events.ID
	for _, p := range turn.Settles {
		in := f.inputs.Edit(p)
		for _, old := range in.Turns {
			if old != id && !slices.Contains(earlier, old) {
				earlier = append(earlier, old)
			}
		}
		in.Decided = turn.Ended
		if turn.Kept {
			in.Kept = turn.Ended
			in.Turns = append(slices.Clip(in.Turns), id)
		}
	}
	return earlier
}

// replaceIfDone replaces the rows of a turn, if the record at a position has made that due.
func (f *fold) replaceIfDone(at events.Position, id events.ID) {
	turn := f.turnOf.Peek(id)
	if turn == nil || turn.Replaced {
		return
	}
	by, done := f.successor(*turn)
	if !done {
		return
	}
	f.turnOf.Edit(id).Replaced = true
	for _, id := range turn.Rows {
		if row, ok := f.get(id); ok && !row.ByHand {
			f.supersede(row, Stand{Position: at, By: by})
		}
	}
}

// successor returns the latest turn that kept an input of old, and whether all of old's inputs were decided since.
func (f *fold) successor(old turnState) (by events.ID, done bool) {
	var at events.Position
	for _, p := range old.Settles {
		in := f.inputs.Peek(p)
		if in == nil || in.Decided <= old.Ended && !in.Forgotten {
			return events.ID{}, false
		}
		if in.Kept > old.Ended && in.Kept > at {
			at, by = in.Kept, in.Turns[len(in.Turns)-1]
		}
	}
	return by, at != 0
}

// forgetInput notes that an input can never be asked about again since the record at a position, which may be all that a
// replacement waited for.
func (f *fold) forgetInput(at, p events.Position) {
	in := f.inputs.Edit(p)
	in.Forgotten = true
	for _, turn := range in.Turns {
		f.replaceIfDone(at, turn)
	}
}

// joinTurn enters the row at its turn. leaveTurn takes it out again.
func (f *fold) joinTurn(row Row) {
	if !f.turns || row.Turn == (events.ID{}) {
		return
	}
	if turn := f.turnOf.EditKnown(row.Turn); turn != nil {
		turn.Rows = append(slices.Clip(turn.Rows), row.ID)
	}
}

func (f *fold) leaveTurn(row Row) {
	if turn := f.turnOf.EditKnown(row.Turn); turn != nil {
		turn.Rows = without(turn.Rows, row.ID)
	}
}

// without returns ids without id, and nil rather than an empty list, so that stored forms do not differ.
func without(ids []events.ID, id events.ID) []events.ID {
	var rest []events.ID
	for _, other := range ids {
		if other != id {
			rest = append(rest, other)
		}
	}
	return rest
}

// A row that a person replaced stands superseded by the memory that took its place, or by itself where it was only taken
// back. That is undone by a MemorySuperseded without a By: then it stands again as its turns left it. What later turns say of
// its inputs does not change by whom a person replaced it: undoing that must not bring back what was observed anew.

// supersedeBy carries out a person's MemorySuperseded.
func (f *fold) supersedeBy(r *engine.Record, e events.MemorySuperseded) {
	row, ok := f.get(e.Memory)
	switch {
	case !ok:
	case e.By != (events.ID{}):
		f.supersede(row, Stand{Position: r.Position, By: e.By, ByHand: true})
	case row.ByHand:
		f.restore(r.Position, row)
	}
}

// restore lets a row that a person had replaced stand again, unless its turn was replaced.
func (f *fold) restore(at events.Position, row Row) {
	stand, turn := Stand{Position: at}, f.turnOf.Peek(row.Turn)
	replaced := turn != nil && turn.Replaced
	if replaced {
		stand.By, _ = f.successor(*turn)
	}
	row.Stands = append(row.Stands, stand)
	row.stand()
	if !replaced && !row.Stated() {
		f.joinGroup(&row)
	}
	f.list(row)
	f.put(row)
	f.renew(row.Session)
}
