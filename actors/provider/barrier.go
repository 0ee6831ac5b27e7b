package provider

import (
	"time"

	"github.com/cmemd/cmemd/actors/policy"
)

// Barrier is what keeps a turn from being asked. The zero value is nothing.
type Barrier struct {
	Closed          bool
	ReadingSpending bool      // it is closed until what was spent is read for the first time, which takes milliseconds
	Held            bool      // nobody can find out whether it still should be closed: what waits behind it is held, which is bounded
	Since           time.Time // of Held
	Until           time.Time // of Held: nothing changes before
	Budget          bool      // it is the budget's, or the budget's too
}

// and is what stands between a turn and one candidate, where b and c both do.
func (b Barrier) and(c Barrier) Barrier {
	out := Barrier{Closed: b.Closed || c.Closed, ReadingSpending: b.ReadingSpending || c.ReadingSpending, Held: b.Held || c.Held, Budget: b.Budget || c.Budget}
	for _, x := range []Barrier{b, c} {
		if x.Held {
			out.Since, out.Until = policy.Earlier(out.Since, x.Since), policy.Later(out.Until, x.Until)
		}
	}
	return out
}

// or is what stands between a turn and two candidates, where b stands before the one and c before the other, both closed.
func (b Barrier) or(c Barrier) Barrier {
	return Barrier{
		Closed: true, Held: b.Held && c.Held, Budget: b.Budget || c.Budget,
		Since: policy.Later(b.Since, c.Since), Until: policy.Earlier(b.Until, c.Until),
	}
}
