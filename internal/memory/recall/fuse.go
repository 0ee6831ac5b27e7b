package recall

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/cmemd/cmemd/events"
)

// fuseRank is how much the first places of a list stand out: the usual 60 makes a second place worth 61/62 of a first.
const fuseRank = 60

// Ranking is one list of what was found, best first, and how much it counts beside others.
type Ranking struct {
	IDs    []events.ID
	Weight float64 // 0 means 1
}

// Fused is a row in the common order of several rankings.
type Fused struct {
	ID    events.ID
	Score float64 // the sum of weight / (60 + place) over the rankings that have it
}

// Fuse brings rankings whose scores cannot be compared into one order, by reciprocal rank: what several lists have near
// their beginning comes first. An id counts once a list. Equal scores are ordered by the first list that has either.
func Fuse(lists ...Ranking) []Fused {
	at := map[events.ID]int{}
	var out []Fused
	for _, list := range lists {
		weight := cmp.Or(list.Weight, 1)
		seen := make(map[events.ID]bool, len(list.IDs))
		for _, id := range list.IDs {
			if seen[id] {
				continue
			}
			seen[id] = true
			i, ok := at[id]
			if !ok {
				i = len(out)
				at[id], out = i, append(out, Fused{ID: id})
			}
			out[i].Score += weight / float64(fuseRank+len(seen))
		}
	}
	slices.SortStableFunc(out, func(a, b Fused) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(at[a.ID], at[b.ID]), bytes.Compare(a.ID[:], b.ID[:]))
	})
	return out
}
