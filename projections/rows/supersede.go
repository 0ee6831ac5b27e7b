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
}

// inputState is an input as far as rows depend on it.
type inputState struct {
	Decided events.Position `cbor:"1,keyasint,omitempty" json:"decided,omitempty"` // by the latest turn that did
	Kept    events.Position `cbor:"2,keyasint,omitempty" json:"kept,omitempty"`    // by the latest turn that kept it
	Turns   []events.ID     `cbor:"3,keyasint,omitempty" json:"turns,omitempty"`   // that kept it, oldest first

	Forgotten bool `cbor:"4,keyasint,omitempty" json:"forgotten,omitempty"`
}

func (f *fold) applyTurn(r *engine.Record) error {
	switch r.Kind {
	case events.KindTurnStarted:
		return turn.Start(f.turnOf, r, func(t *turnState, e events.TurnStarted) { t.Settles = e.Settles })
	case events.KindObservationParsed, events.KindSummaryParsed:
		return f.decide(r, true)
	case events.KindOutputSkipped:
		e, ok, err := engine.PayloadOf[events.OutputSkipped](r)
		if err != nil || ok && e.Reason == events.ReasonEmpty {
			return err
		}
		return f.decide(r, false)
	}
	return nil
}

// decide notes that r's turn kept or skipped what it settled, and replaces what earlier turns gave for all of that.
func (f *fold) decide(r *engine.Record, kept bool) error {
	id, err := r.Turn()
	if err != nil {
		return err
	}
	known, err := f.turnOf.Peek(id)
	if err != nil || known == nil || known.Kept || (known.Ended != 0 && !kept) {
		return err
	}
	turn, err := f.turnOf.Edit(id)
	if err != nil {
		return err
	}
	turn.Ended, turn.Kept = r.Position, kept
	earlier, err := f.settle(id, *turn)
	if err != nil {
		return err
	}
	for _, old := range earlier {
		if err := f.replaceIfDone(r.Position, old); err != nil {
			return err
		}
	}
	return nil
}

// settle notes the turn's decision at its inputs, and returns the other turns that had kept some of them.
func (f *fold) settle(id events.ID, turn turnState) ([]events.ID, error) {
	var earlier []events.ID
	for _, p := range turn.Settles {
		in, err := f.inputs.Edit(p)
		if err != nil {
			return nil, err
		}
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
	return earlier, nil
}

// replaceIfDone replaces the rows of a turn, if the record at a position has made that due.
func (f *fold) replaceIfDone(at events.Position, id events.ID) error {
	known, err := f.turnOf.Peek(id)
	if err != nil || known == nil || known.Replaced {
		return err
	}
	by, done, err := f.successor(*known)
	if err != nil || !done {
		return err
	}
	turn, err := f.turnOf.Edit(id)
	if err != nil {
		return err
	}
	turn.Replaced = true
	for _, id := range turn.Rows {
		row, ok, err := f.get(id)
		if err != nil {
			return err
		}
		if ok && row.ByHand {
			continue
		}
		if err := f.supersede(id, Stand{Position: at, By: by}); err != nil {
			return err
		}
	}
	return nil
}

// successor returns the latest turn that kept an input of old, and whether all of old's inputs were decided since.
func (f *fold) successor(old turnState) (by events.ID, done bool, err error) {
	var at events.Position
	for _, p := range old.Settles {
		in, err := f.inputs.Peek(p)
		if err != nil || in == nil || in.Decided <= old.Ended && !in.Forgotten {
			return events.ID{}, false, err
		}
		if in.Kept > old.Ended && in.Kept > at {
			at, by = in.Kept, in.Turns[len(in.Turns)-1]
		}
	}
	return by, at != 0, nil
}

// forgetInput notes that an input can never be asked about again since the record at a position, which may be all that a
// replacement waited for.
func (f *fold) forgetInput(at, p events.Position) error {
	in, err := f.inputs.Edit(p)
	if err != nil {
		return err
	}
	in.Forgotten = true
	for _, turn := range in.Turns {
		if err := f.replaceIfDone(at, turn); err != nil {
			return err
		}
	}
	return nil
}

// joinTurn enters the row at its turn. leaveTurn takes it out again.
func (f *fold) joinTurn(row Row) error {
	if !f.turns || row.Turn == (events.ID{}) {
		return nil
	}
	turn, err := f.turnOf.EditKnown(row.Turn)
	if err != nil || turn == nil {
		return err
	}
	turn.Rows = append(slices.Clip(turn.Rows), row.ID)
	return nil
}

func (f *fold) leaveTurn(row Row) error {
	turn, err := f.turnOf.EditKnown(row.Turn)
	if err != nil || turn == nil {
		return err
	}
	turn.Rows = without(turn.Rows, row.ID)
	return nil
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

// supersedeBy carries out a person's MemorySuperseded, recorded at a position.
func (f *fold) supersedeBy(at events.Position, e events.MemorySuperseded) error {
	row, ok, err := f.get(e.Memory)
	if err != nil || !ok {
		return err
	}
	if e.By != (events.ID{}) {
		return f.supersede(e.Memory, Stand{Position: at, By: e.By, ByHand: true})
	}
	if !row.ByHand {
		return nil
	}
	return f.restore(at, row)
}

// restore lets a row that a person had replaced stand again, unless its turn was replaced.
func (f *fold) restore(at events.Position, row Row) error {
	turn, err := f.turnOf.Peek(row.Turn)
	if err != nil {
		return err
	}
	if turn != nil && turn.Replaced {
		by, _, err := f.successor(*turn)
		if err != nil {
			return err
		}
		row.Stands = append(row.Stands, Stand{Position: at, By: by})
		row.stand()
		return f.put(row)
	}
	row.Stands = append(row.Stands, Stand{Position: at})
	row.stand()
	if err := f.joinGroup(&row); err != nil {
		return err
	}
	if err := f.list(row); err != nil {
		return err
	}
	return f.put(row)
}
