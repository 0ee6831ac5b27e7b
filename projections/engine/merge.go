package engine

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
)

// Said is what a record says of itself on every machine.
type Said struct {
	Home events.Place `cbor:"1,keyasint,omitzero" json:"home"`
	At   time.Time    `cbor:"2,keyasint,omitzero" json:"at"`
	ID   events.ID    `cbor:"3,keyasint,omitzero" json:"id"`
}

// Said is what r says of itself.
func (r *Record) Said() Said { return Said{Home: r.Home, At: r.OccurredAt, ID: r.ID} }

// First orders what two machines recorded: by when it happened, then by id.
func (s Said) First(other Said) int {
	return cmp.Or(s.At.Compare(other.At), bytes.Compare(s.ID[:], other.ID[:]))
}

// Merge puts what several logs say in an order that is the same on every machine, whatever came when: that of each log in its own order, and of
// what comes next in each the one that happened first, then the one with the lower id. It changes all.
func Merge[T any](all []T, said func(T) Said) []T {
	slices.SortStableFunc(all, func(a, b T) int {
		x, y := said(a).Home, said(b).Home
		return cmp.Or(bytes.Compare(x.Log[:], y.Log[:]), cmp.Compare(x.Position, y.Position))
	})
	var logs [][]T
	for rest := all; len(rest) > 0; {
		log := said(rest[0]).Home.Log
		n := slices.IndexFunc(rest, func(one T) bool { return said(one).Home.Log != log })
		if n < 0 {
			n = len(rest)
		}
		logs, rest = append(logs, rest[:n]), rest[n:]
	}
	if len(logs) < 2 {
		return all
	}
	merged := make([]T, 0, len(all))
	for len(merged) < len(all) {
		next := -1
		for i, rest := range logs {
			if len(rest) > 0 && (next < 0 || said(rest[0]).First(said(logs[next][0])) < 0) {
				next = i
			}
		}
		merged, logs[next] = append(merged, logs[next][0]), logs[next][1:]
	}
	return merged
}
