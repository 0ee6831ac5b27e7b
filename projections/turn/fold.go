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
	Evolve(r *engine.Record)
	// Forget takes back what the payload of the record of h had said. spent is what the MemoryForgotten that erases it says
	// that the turn cost, if stated.
	Forget(h events.Header, spent events.TurnSpent, stated bool)
}

// Fold keeps what a view knows of each turn and, where the view has sums, takes back what a turn has added to them before it
// adds what is known of it now.
type Fold[T any, E Entry[T]] struct {
	x     *engine.Tx
	turns *engine.Cache[events.ID, T]
	enter func(t T, by int64)
}

// NewFold returns a fold of one slice over a table of turns. enter adds what t says to the view's sums, by times: 1 or -1.
// Without it there are no sums, and turns that were never started are kept all the same.
func NewFold[T any, E Entry[T]](x *engine.Tx, turns engine.Table[T], enter func(t T, by int64)) *Fold[T, E] {
	return &Fold[T, E]{x: x, turns: engine.NewCache(x, turns, engine.IDKey), enter: enter}
}

// Apply follows the turn that r is about, if it is about one.
func (f *Fold[T, E]) Apply(r *engine.Record) {
	switch r.Kind {
	case events.KindTurnStarted:
		Start(f.turns, r, func(t *T, e events.TurnStarted) { E(t).Begin(r, e) })
	case events.KindTurnReceived, events.KindTurnFailed, events.KindOutputDropped, events.KindOutputSkipped,
		events.KindObservationParsed, events.KindSummaryParsed:
		f.Evolve(r, nil)
	case events.KindMemoryForgotten:
		f.forget(r)
	}
}

// Peek returns what is kept of a turn, or nil. It must not be changed.
func (f *Fold[T, E]) Peek(id events.ID) *T { return f.turns.Peek(id) }

// Evolve has the turn of r take over what r says. first, which may be nil, changes it before.
func (f *Fold[T, E]) Evolve(r *engine.Record, first func(E)) {
	f.change(r.Turn(), func(t E) {
		if first != nil {
			first(t)
		}
		t.Evolve(r)
	})
}

// change alters what is kept of a turn, and the sums with it. Turns that were never started are in no sum: nobody knows who
// was asked.
func (f *Fold[T, E]) change(id events.ID, alter func(E)) {
	known := f.turns.Peek(id)
	if id == (events.ID{}) || known == nil && f.enter != nil {
		return
	}
	var was T
	if known != nil && f.enter != nil {
		was = *known
	}
	is := f.turns.Edit(id)
	alter(is)
	if f.enter != nil {
		f.enter(was, -1)
		f.enter(*is, +1)
	}
}

// forget takes back, at their turns, what the payloads of the records had said that r, a MemoryForgotten, names.
func (f *Fold[T, E]) forget(r *engine.Record) {
	e, ok := engine.PayloadOf[events.MemoryForgotten](r)
	if !ok {
		return
	}
	spent := engine.SpentIn(e)
	for h := range engine.ForgottenRecords(f.x, r) {
		if f.turns.Peek(h.Correlation) != nil {
			s, stated := spent[h.Correlation]
			f.change(h.Correlation, func(t E) { t.Forget(h, s, stated) })
		}
	}
}

// Start has begin make what turns keep of the turn that r, a TurnStarted, begins. One that is known stays as it is.
func Start[T any](turns *engine.Cache[events.ID, T], r *engine.Record, begin func(t *T, e events.TurnStarted)) {
	e, ok := engine.PayloadOf[events.TurnStarted](r)
	if !ok {
		return
	}
	if id := engine.TurnOf(r, e.Turn); turns.Peek(id) == nil {
		begin(turns.Edit(id), e)
	}
}
