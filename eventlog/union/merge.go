package union

import (
	"iter"

	"github.com/cmemd/cmemd/events"
)

// merge yields what several sequences yield, each time the record of which less is true for all others. An error ends it.
func merge(all []iter.Seq2[events.Record, error], less func(a, b events.Record) bool, yield func(events.Record, error) bool) {
	if len(all) == 1 {
		all[0](yield)
		return
	}
	type source struct {
		r    events.Record
		next func() (events.Record, error, bool)
	}
	var open []source
	for _, seq := range all {
		next, stop := iter.Pull2(seq)
		defer stop()
		open = append(open, source{next: next})
	}
	pull := func(i int) bool {
		r, err, ok := open[i].next()
		switch {
		case !ok:
			open = append(open[:i], open[i+1:]...)
		case err != nil:
			yield(r, err)
			return false
		default:
			open[i].r = r
		}
		return true
	}
	for i := len(open) - 1; i >= 0; i-- {
		if !pull(i) {
			return
		}
	}
	for len(open) > 0 {
		first := 0
		for i := range open {
			if less(open[i].r, open[first].r) {
				first = i
			}
		}
		if !yield(open[first].r, nil) || !pull(first) {
			return
		}
	}
}
