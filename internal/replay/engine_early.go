package replay

import (
	"cmp"
	"sort"

	"github.com/cmemd/cmemd/internal/order"
)

// early is a turn that began before an event that stands before its own: another session's turn ended while it was in
// flight.
type early struct {
	before int32 // the first event that it began before
	frame  int32
}

// earlyOf finds the early turns of frames, in the order in which they began, and lets no turn begin before the event of
// its session that stands before it. One that began at the very instant of an event began before it.
func earlyOf(frames []frame, sessions int) (out []early) {
	next := make([]int, sessions) // the first frame behind the last of the session
	for i := range frames {
		f := &frames[i]
		if f.begunMS < f.atMS {
			first := next[f.session]
			if first > 0 {
				f.begunMS = max(f.begunMS, frames[first-1].atMS)
			}
			if n := first + sort.Search(i-first, func(n int) bool { return frames[first+n].atMS >= f.begunMS }); n < i {
				out = append(out, early{int32(n), int32(i)})
			}
		}
		next[f.session] = i + 1
	}
	order.By(out, func(a, b early) int {
		return cmp.Or(cmp.Compare(a.before, b.before), cmp.Compare(frames[a.frame].begunMS, frames[b.frame].begunMS))
	})
	return out
}
