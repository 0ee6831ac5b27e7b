package outcomes

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// Reader answers from the view of outcomes. Its methods are safe for concurrent use.
type Reader struct{ Views *engine.Views }

// Balance says what became of all inputs.
func (v Reader) Balance(ctx context.Context) (Balance, error) {
	return v.BalanceOf(ctx, events.SessionID{})
}

// BalanceOf says what became of a session's inputs. Of an unknown session it is all zero.
func (v Reader) BalanceOf(ctx context.Context, session events.SessionID) (Balance, error) {
	var b Balance
	err := v.Views.Read(ctx, func(r *engine.ReadTx) { b = BalanceIn(r, session) })
	return b, err
}

// BalanceIn is Reader.BalanceOf within r.
func BalanceIn(r *engine.ReadTx, session events.SessionID) Balance {
	b, _ := balanceTable().Get(r.View(View{}.Name()), engine.SessionKey(session))
	return b.public()
}

// BalanceOfAll says what became of the inputs of several sessions together.
func (v Reader) BalanceOfAll(ctx context.Context, sessions []events.SessionID) (Balance, error) {
	var sum balance
	err := v.Views.View(ctx, View{}.Name(), func(x *engine.Tx) {
		for _, session := range sessions {
			b, _ := balanceTable().Get(x, engine.SessionKey(session))
			sum.add(b)
		}
	})
	return sum.public(), err
}

func (b *balance) add(other balance) {
	for c, n := range other.Counts {
		b.Counts[c] += n
	}
	for key, n := range other.Reasons {
		b.addReason(key, n)
	}
	b.Asked += other.Asked
}

// Outcome returns what became of the input at a position. The error is engine.ErrNotFound for what is no input.
func (v Reader) Outcome(ctx context.Context, at events.Position) (Input, error) {
	found, err := v.OutcomesAt(ctx, []events.Position{at})
	if err != nil {
		return Input{}, err
	}
	if len(found) == 0 {
		return Input{}, fmt.Errorf("%w: input %d", engine.ErrNotFound, at)
	}
	return found[0], nil
}

// OutcomesAt returns what became of the inputs at positions, in the order of these. What is no input is passed over.
func (v Reader) OutcomesAt(ctx context.Context, at []events.Position) ([]Input, error) {
	var w inputWalk
	for part := range slices.Chunk(at, inputSlice) {
		err := v.Views.View(ctx, View{}.Name(), func(x *engine.Tx) {
			for _, p := range part {
				if in, ok := inputTable().Get(x, engine.PositionKey(p)); ok {
					w.found = append(w.found, w.public(x, p, in))
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return w.found, nil
}

// Outcomes returns the chosen inputs, the latest first.
func (v Reader) Outcomes(ctx context.Context, f Filter) ([]Input, error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	w := inputWalk{filter: f}
	if err := v.Views.View(ctx, View{}.Name(), w.begin); err != nil {
		return nil, err
	}
	for !w.done {
		if err := v.Views.View(ctx, View{}.Name(), w.goOn); err != nil {
			return nil, err
		}
	}
	return w.found, nil
}

// inputWalk goes back through inputs in transactions of at most inputSlice of them.
type inputWalk struct {
	filter    Filter
	code      session.Outcome
	chosen    bool              // by outcome
	next      events.Position   // to visit: of a session, itself; else those before it
	queue     []events.Position // of a turn: what is left to visit
	decidedBy events.ID         // of the input before, and what is known of that turn
	decided   decider
	left      int64 // inputs that may still match
	found     []Input
	done      bool
}

// inputSlice is larger than engine.ReadSlice: an input is small.
const inputSlice = 4096

// begin finds where to start, and how many inputs can match, so that the walk need not go to the end of all.
func (w *inputWalk) begin(x *engine.Tx) {
	w.code, w.chosen = codeOf(w.filter.Outcome)
	if w.filter.Outcome != "" && !w.chosen {
		w.done = true
		return
	}
	b, _ := balanceTable().Get(x, engine.SessionKey(w.filter.Session))
	w.next = b.Last
	if w.filter.Session.IsZero() {
		w.next = w.filter.Before
	}
	if w.next == 0 {
		w.next-- // past every position
	}
	for c, n := range b.Counts {
		if !w.chosen || session.Outcome(c) == w.code {
			w.left += n
		}
	}
	w.done = w.left == 0
	if w.filter.Turn != (events.ID{}) {
		t, _ := turnTable().Get(x, engine.IDKey(w.filter.Turn))
		w.queue = slices.Sorted(slices.Values(t.Settles))
	}
}

func (w *inputWalk) goOn(x *engine.Tx) {
	switch {
	case w.filter.Turn != (events.ID{}):
		w.turn(x)
	case !w.filter.Session.IsZero():
		w.session(x)
	case w.chosen && rare(w.code):
		w.index(x, rareTable(), []byte{byte(w.code)})
	default:
		w.index(x, engine.Table[engine.Member]{Name: inputTable().Name}, nil)
	}
}

// turn goes back through what a turn settled.
func (w *inputWalk) turn(x *engine.Tx) {
	for _, at := range slices.Backward(w.queue) {
		w.visit(x, at)
		if w.done {
			return
		}
	}
	w.done = true
}

// session follows the chain from a session's latest input to its first.
func (w *inputWalk) session(x *engine.Tx) {
	for range inputSlice {
		if w.next == 0 || w.done {
			w.done = true
			return
		}
		previous := w.visit(x, w.next)
		if previous >= w.next {
			x.Fail(engine.Damaged("input %d comes after %d", w.next, previous))
		}
		w.next = previous
	}
}

// index goes back through a table whose keys are prefix and a position.
func (w *inputWalk) index(x *engine.Tx, t engine.Table[engine.Member], prefix []byte) {
	c := t.Cursor(x)
	k, _ := c.Before(append(bytes.Clone(prefix), engine.PositionKey(w.next)...))
	for range inputSlice {
		if !bytes.HasPrefix(k, prefix) || k == nil || w.done {
			w.done = true
			return
		}
		at := engine.KeyPosition(k)
		w.next = at
		w.visit(x, at)
		k, _ = c.Prev()
	}
}

// visit takes the input at a position if it is chosen, and returns the one before it in its session.
func (w *inputWalk) visit(x *engine.Tx, at events.Position) (previous events.Position) {
	in, ok := inputTable().Get(x, engine.PositionKey(at))
	if !ok {
		return 0
	}
	if w.chosen && in.outcome != w.code || w.filter.Before != 0 && at >= w.filter.Before {
		return in.previous
	}
	out := w.public(x, at, in)
	if out.At.Before(w.filter.Since) {
		w.done = true // records are never older than those before them
		return 0
	}
	if w.filter.admits(out) {
		w.found = append(w.found, out)
	}
	w.left--
	w.done = w.left <= 0 || len(w.found) == w.filter.Limit
	return in.previous
}

func (f Filter) admits(in Input) bool {
	return (f.Class == "" || in.Class == f.Class) && (f.Reason == "" || in.Reason == f.Reason) &&
		(f.Kind == "" || in.Kind == f.Kind) && (f.Among == nil || f.Among[in.Session]) &&
		(f.Until.IsZero() || !in.At.After(f.Until)) && (f.Session.IsZero() || in.Session == f.Session)
}

// public is an input as readers know it. Of turns the latest is kept: inputs that follow each other were mostly settled together.
func (w *inputWalk) public(x *engine.Tx, at events.Position, in input) Input {
	out := Input{
		Position: at, Session: in.session, Kind: kindsByCode()[in.kind], At: time.Unix(0, in.at).UTC(),
		Outcome: Outcome(in.outcome.String()), Turn: in.turn, Reason: in.reason, Reobserve: in.reobserve(),
	}
	if in.givenUp || in.outcome != session.Dropped && in.outcome != session.Skipped {
		return out
	}
	if in.turn != w.decidedBy {
		w.decidedBy = in.turn
		w.decided, _ = turnTable().Get(x, engine.IDKey(in.turn))
	}
	out.Class, out.Reason = w.decided.Class, w.decided.Reason
	return out
}

// Ledger returns the balances of all sessions as they stand at one position, for whoever counts again.
func (v Reader) Ledger(ctx context.Context) (Ledger, error) {
	var l Ledger
	err := v.Views.View(ctx, View{}.Name(), func(x *engine.Tx) {
		l = Ledger{Position: x.Checkpoint, Sessions: map[events.SessionID]Balance{}}
		l.read(x)
	})
	return l, err
}

func (l *Ledger) read(x *engine.Tx) {
	for k, b := range balanceTable().From(x, nil, nil) {
		if len(k) != len(events.SessionID{}) {
			x.Fail(engine.Damaged("balance %x", k))
			return
		}
		if id := events.SessionID(k); id.IsZero() {
			l.All = b.public()
		} else {
			l.Sessions[id] = b.public()
		}
	}
}
