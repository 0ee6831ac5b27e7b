package turn

import (
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// Entry is what a view keeps of a turn, a T, as it follows the turn.
type Entry[T any] interface {
	*T
	// Begin takes over what r, a TurnStarted, says.
	Begin(r *engine.Record, e events.TurnStarted)
	// Evolve takes over what r says of the turn's end, or of what came of it. The payload may be erased.
	Evolve(r *engine.Record) error
	// Forget takes back what the payload of the record of h had said. spent is what the MemoryForgotten that erases it says
	// that the turn cost, if stated.
	Forget(h events.Header, spent events.TurnSpent, stated bool)
}

// Fold keeps what a view knows of each turn and, where the view has sums, takes back what a turn has added to them before it
// adds what is known of it now.
type Fold[T any, E Entry[T]] struct {
	x     *engine.Tx
	turns *engine.Cache[events.ID, T]
	enter func(t T, by int64) error
}

// NewFold returns a fold of one slice over a table of turns. enter adds what t says to the view's sums, by times: 1 or -1.
// Without it there are no sums, and turns that were never started are kept all the same.
func NewFold[T any, E Entry[T]](x *engine.Tx, turns engine.Table[T], enter func(t T, by int64) error) *Fold[T, E] {
	return &Fold[T, E]{x: x, turns: engine.NewCache(x, turns, engine.IDKey), enter: enter}
}

// Apply follows the turn that r is about, if it is about one.
func (f *Fold[T, E]) Apply(r *engine.Record) error {
	switch r.Kind {
	case events.KindTurnStarted:
		return Start(f.turns, r, func(t *T, e events.TurnStarted) { E(t).Begin(r, e) })
	case events.KindTurnReceived, events.KindTurnFailed, events.KindOutputDropped, events.KindOutputSkipped,
		events.KindObservationParsed, events.KindSummaryParsed:
		return f.Evolve(r, nil)
	case events.KindMemoryForgotten:
		return f.forget(r)
	}
	return nil
}

// Flush writes the turns that were changed.
func (f *Fold[T, E]) Flush() error { return f.turns.Flush() }

// Peek returns what is kept of a turn, or nil. It must not be changed.
func (f *Fold[T, E]) Peek(id events.ID) (*T, error) { return f.turns.Peek(id) }

// Evolve has the turn of r take over what r says. first, which may be nil, changes it before.
func (f *Fold[T, E]) Evolve(r *engine.Record, first func(E)) error {
	id, err := r.Turn()
	if err != nil {
		return err
	}
	return f.change(id, func(t E) error {
		if first != nil {
			first(t)
		}
		return t.Evolve(r)
	})
}

// change alters what is kept of a turn, and the sums with it. Turns that were never started are in no sum: nobody knows who
// was asked.
func (f *Fold[T, E]) change(id events.ID, alter func(E) error) error {
	known, err := f.turns.Peek(id)
	if err != nil || id == (events.ID{}) || known == nil && f.enter != nil {
		return err
	}
	var was T
	if known != nil && f.enter != nil {
		was = *known
	}
	is, err := f.turns.Edit(id)
	if err != nil {
		return err
	}
	if err := alter(is); err != nil || f.enter == nil {
		return err
	}
	if err := f.enter(was, -1); err != nil {
		return err
	}
	return f.enter(*is, +1)
}

// forget takes back, at their turns, what the payloads of the records had said that r, a MemoryForgotten, names.
func (f *Fold[T, E]) forget(r *engine.Record) error {
	e, ok, err := engine.PayloadOf[events.MemoryForgotten](r)
	if err != nil || !ok {
		return err
	}
	spent := engine.SpentIn(e)
	return engine.ForgottenRecords(f.x, r, func(h events.Header) error {
		if known, err := f.turns.Peek(h.Correlation); err != nil || known == nil {
			return err
		}
		s, stated := spent[h.Correlation]
		return f.change(h.Correlation, func(t E) error {
			t.Forget(h, s, stated)
			return nil
		})
	})
}

// Start has begin make what turns keep of the turn that r, a TurnStarted, begins. One that is known stays as it is.
func Start[T any](turns *engine.Cache[events.ID, T], r *engine.Record, begin func(t *T, e events.TurnStarted)) error {
	e, ok, err := engine.PayloadOf[events.TurnStarted](r)
	if err != nil || !ok {
		return err
	}
	id := engine.TurnOf(r, e.Turn)
	if known, err := turns.Peek(id); err != nil || known != nil {
		return err
	}
	t, err := turns.Edit(id)
	if err != nil {
		return err
	}
	begin(t, e)
	return nil
}
