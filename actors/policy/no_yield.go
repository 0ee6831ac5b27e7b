package policy

import (
	"cmp"
	"time"

	"github.com/cmemd/cmemd/events"
)

// NoYield says when a provider is paused whose answers are of no use. Zero fields mean the defaults. Counted are answers
// that were dropped and not blank, in a row: a skip says nothing either way, and one that was kept ends the row.
type NoYield struct {
	Max    int           // answers within Window that pause it, the last one included. 0 means 25
	Window time.Duration // closed: an answer exactly this old still counts. 0 means 24 h
}

// MaxNoYield is the most that NoYield.Max may be: so many answers are remembered of each provider.
const MaxNoYield = 1000

// DefaultNoYield are the limits where nobody says otherwise. A model that wrote 25 answers which nobody can read, and none
// that somebody can, does not know the form; a day is what its owner sees on one bill.
func DefaultNoYield() NoYield { return NoYield{}.withDefaults() }

func (n NoYield) withDefaults() NoYield {
	n.Max = cmp.Or(n.Max, 25)
	n.Window = cmp.Or(n.Window, 24*time.Hour)
	return n
}

// Limits is what n enforces, for the record of a decision.
func (n NoYield) Limits() events.Limits {
	n = n.withDefaults()
	return events.Limits{Window: n.Window, Unparseable: n.Max}
}

// Decide counts those of row, the answers in a row that were of no use, that are within the window at now, and says whether
// they pause their provider.
func (n NoYield) Decide(row []time.Time, now time.Time) (counted int, pause bool) {
	n = n.withDefaults()
	counted = within(row, now, n.Window)
	return counted, counted >= n.Max
}
