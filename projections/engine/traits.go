package engine

import (
	"iter"

	"github.com/cmemd/cmemd/events"
)

// CarriesWords reports whether events of kind k may hold somebody's words.
func CarriesWords(k events.Kind) bool {
	t, _ := k.Traits()
	return t.Words
}

// Forgettable reports whether r's payload may be erased from the log by name of a MemoryForgotten. Those may that carry
// somebody's words. The rest is structure, as is that an answer was blank: without it the views could not say any more
// what was settled by what, and a rebuilt view would differ from a live one.
func Forgettable(r events.Record) bool {
	if r.Kind == events.KindOutputSkipped {
		e, err := r.Event()
		skipped, ok := e.(events.OutputSkipped)
		return err != nil || !ok || skipped.Reason != events.ReasonEmpty
	}
	return CarriesWords(r.Kind)
}

// ForgottenRecords yields the header of every record that r, a MemoryForgotten, names and that a payload can be erased from, in
// whichever stream r and the record are: words are gone either way. What became of an input is for its own stream to say.
// Positions that the log does not have are passed over.
func ForgottenRecords(x *Tx, r *Record) iter.Seq[events.Header] {
	return func(yield func(events.Header) bool) {
		e, _ := PayloadOf[events.MemoryForgotten](r)
		for _, p := range e.Positions {
			h, ok, err := x.header(p)
			x.Fail(err)
			if ok && CarriesWords(h.Kind) && !yield(h) {
				return
			}
		}
	}
}

// SpentIn is what e says that turns cost, by turn.
func SpentIn(e events.MemoryForgotten) map[events.ID]events.TurnSpent {
	spent := make(map[events.ID]events.TurnSpent, len(e.Spent))
	for _, s := range e.Spent {
		spent[s.Turn] = s
	}
	return spent
}

// KnownKind reports whether kind k is one that this program has a meaning for.
func KnownKind(k events.Kind) bool {
	_, known := k.Traits()
	return known
}
