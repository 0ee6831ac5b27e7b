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

func (f *fold) applyTurn(r *engine.Record) {
	switch r.Kind {
	case events.KindTurnStarted:
		turn.Start(f.turnOf, r, func(t *turnState, e events.TurnStarted) {
			t.Settles, t.OpenRequests = e.Settles, f.wanted(e.Settles, e.Reads)
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
		f.replaceIfDone(r, old)
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

// replaceIfDone replaces the rows of a turn, if r has made that due.
func (f *fold) replaceIfDone(r *engine.Record, id events.ID) {
	turn := f.turnOf.Peek(id)
	if turn == nil || turn.Replaced {
		return
	}
	by, done := f.successor(*turn)
	if !done {
		return
	}
	turn = f.turnOf.Edit(id)
	if turn.Replaced = true; f.x.Joined {
		turn.Since, turn.SinceAt, turn.By = r.Said(), r.Position, by
	}
	for _, id := range turn.Rows {
		row, ok := f.get(id)
		switch {
		case ok && f.x.Joined:
			f.restate(row)
		case ok && !row.ByHand:
			f.supersede(row, Stand{Position: r.Position, By: by})
		}
	}
}

// supersede takes a row out of the lists, and says in favour of what.
func (f *fold) supersede(row Row, s Stand) {
	f.unlist(row)
	row.Stands = append(row.Stands, s)
	if !row.Stated() {
		f.leaveGroup(row)
		row.FoldedInto, row.Count, row.Turns = events.ID{}, 1, ownTurn(row)
	}
	row.applyStands()
	f.put(row)
	f.refreshNewest(row.Session)
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

// forgetInput notes that an input can never be asked about again since r, which may be all that a replacement waited for.
func (f *fold) forgetInput(r *engine.Record, p events.Position) {
	in := f.inputs.Edit(p)
	in.Forgotten = true
	for _, turn := range in.Turns {
		f.replaceIfDone(r, turn)
	}
}

// joinTurn enters the row at its turn. leaveTurn takes it out again.
func (f *fold) joinTurn(row Row) {
	if !f.turns || row.Turn == (events.ID{}) {
		return
	}
	if turn := f.turnOf.EditExisting(row.Turn); turn != nil {
		turn.Rows = append(slices.Clip(turn.Rows), row.ID)
	}
}

func (f *fold) leaveTurn(row Row) {
	if turn := f.turnOf.EditExisting(row.Turn); turn != nil {
		turn.Rows = without(turn.Rows, row.ID)
	}
}

// A row that a person replaced stands superseded by the memory that took its place, or by itself where it was only taken
// back. That is undone by a MemorySuperseded without a By: then it stands again as its turns left it. What later turns say of
// its inputs does not change by whom a person replaced it: undoing that must not bring back what was observed anew.

// supersedeBy carries out a person's MemorySuperseded.
func (f *fold) supersedeBy(r *engine.Record, e events.MemorySuperseded) {
	if f.x.Joined {
		f.decideOn(r, e.Memory, decision{By: e.By})
		return
	}
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
	row.applyStands()
	if !replaced && !row.Stated() {
		f.joinGroup(&row)
	}
	f.list(row)
	f.put(row)
	f.refreshNewest(row.Session)
}
