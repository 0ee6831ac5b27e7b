package turn

import (
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// Fold keeps what each turn has added to the sums of a view, so that it can be taken back when more is known of the turn, or
// less. T is what the view counts of a turn.
type Fold[T any] struct {
	x     *engine.Tx
	turns *engine.Cache[events.ID, T]
	enter func(t T, by int64) error
}

// NewFold returns a fold of one slice over a table of turns. enter adds what t says to the view's sums, by times: 1 or -1.
func NewFold[T any](x *engine.Tx, turns engine.Table[T], enter func(t T, by int64) error) *Fold[T] {
	return &Fold[T]{x: x, turns: engine.NewCache(x, turns, engine.IDKey), enter: enter}
}

// Flush writes the turns that were changed.
func (f *Fold[T]) Flush() error { return f.turns.Flush() }

// Peek returns what is counted of a turn, or nil. It must not be changed.
func (f *Fold[T]) Peek(id events.ID) (*T, error) { return f.turns.Peek(id) }

// Start enters a turn that begins. One that is known stays as it is. Nothing is added to sums.
func (f *Fold[T]) Start(id events.ID, t T) error {
	if known, err := f.turns.Peek(id); err != nil || known != nil {
		return err
	}
	is, err := f.turns.Edit(id)
	if err != nil {
		return err
	}
	*is = t
	return nil
}

// Change alters what is counted of a turn, and the sums with it. Turns that were never started are passed over: nobody
// knows who was asked.
func (f *Fold[T]) Change(id events.ID, alter func(*T)) error {
	known, err := f.turns.Peek(id)
	if err != nil || known == nil {
		return err
	}
	was := *known
	is, err := f.turns.Edit(id)
	if err != nil {
		return err
	}
	alter(is)
	if err := f.enter(was, -1); err != nil {
		return err
	}
	return f.enter(*is, +1)
}

// Forget has forget take back, at their turns, what the payloads of the records had said that r, a MemoryForgotten, names.
// kind is the record's; spent is what r itself says that the turn cost, if told.
func (f *Fold[T]) Forget(r *engine.Record, forget func(t *T, kind events.Kind, spent events.TurnSpent, told bool)) error {
	e, ok, err := engine.PayloadOf[events.MemoryForgotten](r)
	if err != nil || !ok {
		return err
	}
	spent := engine.SpentIn(e)
	return engine.ForgottenRecords(f.x, e, func(h events.Header) error {
		s, told := spent[h.Correlation]
		return f.Change(h.Correlation, func(t *T) { forget(t, h.Kind, s, told) })
	})
}
