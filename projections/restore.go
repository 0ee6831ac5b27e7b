package projections

import (
	"github.com/cmemd/cmemd/events"
)

// A row that a person replaced stands superseded by the memory that took its place, or by itself where it was only taken
// back. That is undone by a MemorySuperseded without a By: then it stands again as its turns left it. What later turns say of
// its inputs does not change by whom a person replaced it: undoing that must not bring back what was observed anew.

// supersedeBy carries out a person's MemorySuperseded.
func (f *rowFold) supersedeBy(e events.MemorySuperseded) error {
	row, ok, err := f.get(e.Memory)
	if err != nil || !ok {
		return err
	}
	if e.By != (events.ID{}) {
		row.ByHand = true
		if err := f.put(row); err != nil {
			return err
		}
		return f.supersede(e.Memory, e.By)
	}
	if !row.ByHand {
		return nil
	}
	return f.restore(row)
}

// restore lets a row that a person had replaced stand again, unless its turn was replaced.
func (f *rowFold) restore(row Row) error {
	row.ByHand, row.Superseded, row.SupersededBy = false, false, events.ID{}
	turn, err := f.turnOf.peek(row.Turn)
	if err != nil {
		return err
	}
	if turn != nil && turn.Replaced {
		by, _, err := f.successor(*turn)
		if err != nil {
			return err
		}
		row.Superseded, row.SupersededBy = true, by
		return f.put(row)
	}
	if err := f.join(&row); err != nil {
		return err
	}
	if err := f.list(row); err != nil {
		return err
	}
	return f.put(row)
}
