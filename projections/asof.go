package projections

import (
	"context"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// AsOf is the row by itself as it stood at the record of a position, which was recorded at a time: superseded by whoever had
// said so last, and flagged as far as its claims had been looked at. One that is forgotten or folded away stays so, and what
// it counts stays counted: Views.RowsAsOf knows of those that say the same.
func (r Row) AsOf(p events.Position, at time.Time) Row {
	r.Checks = slices.DeleteFunc(slices.Clone(r.Checks), func(c Check) bool { return c.At.After(at) })
	r.Flagged = flagged(r)
	r.Stands = slices.DeleteFunc(slices.Clone(r.Stands), func(s Stand) bool { return s.Position > p })
	r.stand()
	return r
}

// stand makes the row's state what the last of its Stands says.
func (r *Row) stand() {
	last := Stand{}
	if n := len(r.Stands); n > 0 {
		last = r.Stands[n-1]
	}
	r.Superseded, r.SupersededBy, r.ByHand = last.By != events.ID{}, last.By, last.ByHand
}

// RowsAsOf is Rows as they stood at the record of a position, which was recorded at a time. Of rows that say the same, those
// count that had been recorded, and the one that led them leads; one that was superseded since stands by itself. What is
// forgotten stays so. Rows recorded later are returned too, as Row.AsOf has them.
func (v RowReader) RowsAsOf(ctx context.Context, p events.Position, at time.Time, ids ...events.ID) ([]Row, error) {
	rows := make([]Row, len(ids))
	err := v.Read(ctx, func(btx *bolt.Tx) error {
		books, err := v.books(btx)
		if err != nil {
			return err
		}
		for n, id := range ids {
			row, err := find(books, id)
			if err != nil {
				return err
			}
			if rows[n], err = groupedAsOf(books, row, p, at); err != nil {
				return err
			}
		}
		return nil
	})
	return rows, err
}

// groupedAsOf is Row.AsOf, in the group of those that said the same by then.
func groupedAsOf(books []book, row Row, p events.Position, at time.Time) (Row, error) {
	then := row.AsOf(p, at)
	n := slices.IndexFunc(books, func(b book) bool { return b.kind == row.Kind })
	if n < 0 || row.Position > p || row.Count < 2 && row.FoldedInto == (events.ID{}) {
		return then, nil
	}
	g, ok, err := groupTable().Get(books[n].x, groupKey(row))
	if err != nil || !ok {
		return then, err
	}
	var lead events.ID
	var turns []events.ID
	said, standing := 0, false
	for _, id := range g.Rows {
		one, _, err := rowTable().Get(books[n].x, engine.IDKey(id))
		if err != nil {
			return then, err
		}
		if one.Position > p {
			continue
		}
		if stands := !one.AsOf(p, at).Flagged; said == 0 || stands && !standing {
			lead, standing = id, stands
		}
		said, turns = said+1, withTurn(turns, one.Turn)
	}
	then.FoldedInto, then.Count, then.Turns = events.ID{}, said, turns
	if row.ID != lead {
		then.FoldedInto, then.Count, then.Turns = lead, 0, ownTurn(row)
	}
	return then, nil
}
