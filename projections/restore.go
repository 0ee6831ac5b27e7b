package projections

import "github.com/cmemd/cmemd/events"

// A row that a person replaced stands superseded by the memory that took its place, or by itself where it was only taken
// back. That is undone by a MemorySuperseded without a By: then it stands again as its turns left it. What later turns say of
// its inputs does not change by whom a person replaced it: undoing that must not bring back what was observed anew.

// supersedeBy carries out a person's MemorySuperseded, recorded at a position.
func (f *rowFold) supersedeBy(at events.Position, e events.MemorySuperseded) error {
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
func (f *rowFold) restore(at events.Position, row Row) error {
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
	if err := f.join(&row); err != nil {
		return err
	}
	if err := f.list(row); err != nil {
		return err
	}
	return f.put(row)
}
