package rows

import (
	"bytes"
	"slices"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// Where there are records of other machines, two of them may decide something of one row at once, and what is decided may come
// before the row. So all that was decided of an id is kept, whether there is such a row or not, and a row is what it all leads
// to, in the order of engine.Merge: the same on every machine that has the same records. Where there is one log alone, its own
// order is that order, and nothing of this is kept.

// decideOn keeps what r decides of the row of an id, and carries it out.
func (f *fold) decideOn(r *engine.Record, id events.ID, d decision) {
	d.Said, d.Position = r.Said(), r.Position
	all, _ := decidedTable().Get(f.x, engine.IDKey(id))
	all.All = append(slices.Clip(all.All), d)
	decidedTable().Put(f.x, engine.IDKey(id), all)
	if row, ok := f.get(id); ok {
		f.restate(row)
	}
}

// restate makes a row what all that was decided of it leads to.
func (f *fold) restate(row Row) {
	f.unlist(row)
	f.leaveGroup(row)
	f.settleRow(&row)
	f.joinGroup(&row)
	f.list(row)
	f.put(row)
	f.refreshNewest(row.Session)
}

// settleRow sets what was decided of a row that is in no group and no list.
func (f *fold) settleRow(row *Row) {
	known, _ := decidedTable().Get(f.x, engine.IDKey(row.ID))
	all := slices.Clone(known.All)
	if turn := f.turnOf.Peek(row.Turn); turn != nil && turn.Replaced {
		all = append(all, decision{Said: turn.Since, Position: turn.SinceAt, By: turn.By, Turn: true})
	}
	row.Stands, row.Confirmed, row.ForgetRequests = nil, 0, f.stillAsked(row.ForgetRequests, all)
	row.FoldedInto, row.Count, row.Turns = events.ID{}, 1, ownTurn(*row)
	var byTurn events.ID
	byHand := false
	for _, d := range engine.Merge(all, func(d decision) engine.Said { return d.Said }) {
		switch {
		case d.Asked != (events.ID{}):
		case d.Vouch:
			if row.Confirmed = d.Position; d.Withdrawn {
				row.Confirmed = 0
			}
		case d.Turn:
			if byTurn = d.By; !byHand {
				row.Stands = append(row.Stands, Stand{Position: d.Position, By: d.By})
			}
		case d.By != (events.ID{}):
			byHand = true
			row.Stands = append(row.Stands, Stand{Position: d.Position, By: d.By, ByHand: true})
		case byHand:
			byHand = false
			row.Stands = append(row.Stands, Stand{Position: d.Position, By: byTurn})
		}
	}
	row.applyStands()
	row.Flagged = flagged(*row)
}

// stillAsked are the open requests to forget a row, those that it knows of and those among what was decided of it, in the order
// of their ids.
func (f *fold) stillAsked(known []events.ID, all []decision) (open []events.ID) {
	asked := slices.Clone(known)
	for _, d := range all {
		if _, still := requestTable().Get(f.x, engine.IDKey(d.Asked)); still && d.Asked != (events.ID{}) {
			asked = append(asked, d.Asked)
		}
	}
	slices.SortFunc(asked, func(a, b events.ID) int { return bytes.Compare(a[:], b[:]) })
	if asked = slices.Compact(asked); len(asked) > 0 {
		open = asked
	}
	return open
}

// said is what the record of the row said of itself.
func (r Row) said() engine.Said { return engine.Said{Home: r.Place, At: r.At, ID: r.ID} }
