package rows

import (
	"bytes"
	"cmp"
)

// A session has one summary: each of its turns for one sums up all of the session, so that of those that there are the newest
// stands, and the others are superseded by it. The newest is that of the latest stop, whenever it was written; one that is flagged
// stands only where no other does. Which one it is follows from the rows that there are: when the newest is forgotten, or its turn
// is replaced, the one before it stands again. What a person put in the place of the newest keeps that place. A summary that was
// imported is of one request alone, and stands beside.

// succeeds reports whether r is one of the summaries of its session of which the newest stands.
func (r Row) succeeds() bool {
	return r.Kind == Summary && r.Source == "" && !r.Session.IsZero() && (!r.Superseded || r.ByHand)
}

// outranks reports whether r stands rather than other.
func (r Row) outranks(other Row) bool {
	if r.Flagged != other.Flagged {
		return other.Flagged
	}
	if at := r.At.Compare(other.At); at != 0 || r.ByHand == other.ByHand {
		return cmp.Or(at, r.came(other)) > 0
	}
	return r.ByHand // what the same stop is summed up as once more does not take the place of a correction
}

// came orders rows by when they came, and those of different machines by id.
func (r Row) came(other Row) int {
	if r.Place.Log != other.Place.Log {
		return bytes.Compare(r.ID[:], other.ID[:])
	}
	return cmp.Compare(r.Position, other.Position)
}

// newest returns which of rows stands; -1: none of them succeeds another.
func newest(rows []Row) int {
	best := -1
	for i, row := range rows {
		if row.succeeds() && (best < 0 || row.outranks(rows[best])) {
			best = i
		}
	}
	return best
}
