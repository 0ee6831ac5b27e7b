package projections

import (
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
)

// AsOf is the row as it stood at the record of a position, which was recorded at a time: superseded by whoever had said so
// last, and flagged as far as its claims had been looked at. One that is forgotten or folded away stays so.
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
