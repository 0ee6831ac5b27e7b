package projections

import (
	"slices"
	"time"
)

// AsOf is the row as far as its claims were looked at by a time.
func (r Row) AsOf(at time.Time) Row {
	r.Checks = slices.DeleteFunc(slices.Clone(r.Checks), func(c Check) bool { return c.At.After(at) })
	r.Flagged = flagged(r)
	return r
}
