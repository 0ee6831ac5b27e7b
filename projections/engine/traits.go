package engine

import "github.com/cmemd/cmemd/events"

// CarriesWords reports whether events of kind k may hold somebody's words.
func CarriesWords(k events.Kind) bool {
	t, _ := k.Traits()
	return t.Words
}

// ForgottenRecords calls each for the header of every record that e names and that a payload can be erased from, in
// whichever stream e and the record are: words are gone either way. What became of an input is for its own stream to say.
// Positions that the log does not have are passed over.
func ForgottenRecords(x *Tx, e events.MemoryForgotten, each func(events.Header) error) error {
	for _, p := range e.Positions {
		h, ok, err := x.header(p)
		if err != nil {
			return err
		}
		if !ok || !CarriesWords(h.Kind) {
			continue
		}
		if err := each(h); err != nil {
			return err
		}
	}
	return nil
}

// SpentIn is what e says that turns cost, by turn.
func SpentIn(e events.MemoryForgotten) map[events.ID]events.TurnSpent {
	spent := make(map[events.ID]events.TurnSpent, len(e.Spent))
	for _, s := range e.Spent {
		spent[s.Turn] = s
	}
	return spent
}

// Known reports whether kind k is one that this program has a meaning for.
func Known(k events.Kind) bool {
	_, known := k.Traits()
	return known
}
