package outcomes

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// Reader answers from the view of outcomes. Its methods are safe for concurrent use.
type Reader struct{ *engine.Views }

// Balance says what became of all inputs.
func (v Reader) Balance(ctx context.Context) (Balance, error) {
	return v.BalanceOf(ctx, events.SessionID{})
}

// BalanceOf says what became of a session's inputs. Of an unknown session it is all zero.
func (v Reader) BalanceOf(ctx context.Context, session events.SessionID) (Balance, error) {
	var b Balance
	err := v.Read(ctx, func(btx *bolt.Tx) (err error) {
		b, err = BalanceIn(v.Views, btx, session)
		return err
	})
	return b, err
}

// BalanceIn is Reader.BalanceOf within btx.
func BalanceIn(v *engine.Views, btx *bolt.Tx, session events.SessionID) (Balance, error) {
	x, err := v.LiveTx(btx, View{}.Name())
	if err != nil {
		return Balance{}, err
	}
	b, _, err := balanceTable().Get(x, engine.SessionKey(session))
	return b.public(), err
}

// BalanceOfAll says what became of the inputs of several sessions together.
func (v Reader) BalanceOfAll(ctx context.Context, sessions []events.SessionID) (Balance, error) {
	var sum balance
	err := v.View(ctx, View{}.Name(), func(x *engine.Tx) error {
		sum = balance{}
		for _, session := range sessions {
			b, _, err := balanceTable().Get(x, engine.SessionKey(session))
			if err != nil {
				return err
			}
			sum.add(b)
		}
		return nil
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
	var out Input
	err := v.View(ctx, View{}.Name(), func(x *engine.Tx) error {
		in, ok, err := inputTable().Get(x, engine.PositionKey(at))
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("%w: input %d", engine.ErrNotFound, at)
		}
		out, err = publicInput(storedDecider(x), at, in)
		return err
	})
	return out, err
}

// OutcomesAt returns what became of the inputs at positions, in the order of these. What is no input is passed over.
func (v Reader) OutcomesAt(ctx context.Context, at []events.Position) ([]Input, error) {
	var w inputWalk
	var found []Input
	for part := range slices.Chunk(at, inputSlice) {
		err := v.View(ctx, View{}.Name(), func(x *engine.Tx) error {
			for _, p := range part {
				in, ok, err := inputTable().Get(x, engine.PositionKey(p))
				if err != nil {
					return err
				}
				if !ok {
					continue
				}
				out, err := publicInput(w.deciders(x), p, in)
				if err != nil {
					return err
				}
				found = append(found, out)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Outcomes returns the chosen inputs, the latest first.
func (v Reader) Outcomes(ctx context.Context, f Filter) ([]Input, error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	w := inputWalk{filter: f}
	if err := v.View(ctx, View{}.Name(), w.begin); err != nil {
		return nil, err
	}
	for !w.done {
		if err := v.View(ctx, View{}.Name(), w.goOn); err != nil {
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
func (w *inputWalk) begin(x *engine.Tx) error {
	w.code, w.chosen = codeOf(w.filter.Outcome)
	if w.filter.Outcome != "" && !w.chosen {
		w.done = true
		return nil
	}
	b, _, err := balanceTable().Get(x, engine.SessionKey(w.filter.Session))
	if err != nil {
		return err
	}
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
		t, _, err := turnTable().Get(x, engine.IDKey(w.filter.Turn))
		w.queue = slices.Sorted(slices.Values(t.Settles))
		return err
	}
	return nil
}

func (w *inputWalk) goOn(x *engine.Tx) error {
	if w.filter.Turn != (events.ID{}) {
		return w.turn(x)
	}
	if !w.filter.Session.IsZero() {
		return w.session(x)
	}
	if w.chosen && rare(w.code) {
		return w.index(x, rareTable(), []byte{byte(w.code)})
	}
	return w.index(x, engine.Table[engine.Member]{Name: inputTable().Name}, nil)
}

// turn goes back through what a turn settled.
func (w *inputWalk) turn(x *engine.Tx) error {
	for len(w.queue) > 0 && !w.done {
		at := w.queue[len(w.queue)-1]
		w.queue = w.queue[:len(w.queue)-1]
		if _, err := w.visit(x, at); err != nil {
			return err
		}
	}
	w.done = true
	return nil
}

// session follows the chain from a session's latest input to its first.
func (w *inputWalk) session(x *engine.Tx) error {
	for range inputSlice {
		if w.next == 0 || w.done {
			w.done = true
			return nil
		}
		previous, err := w.visit(x, w.next)
		if err != nil {
			return err
		}
		if previous >= w.next {
			return engine.Damaged("input %d comes after %d", w.next, previous)
		}
		w.next = previous
	}
	return nil
}

// index goes back through a table whose keys are prefix and a position.
func (w *inputWalk) index(x *engine.Tx, t engine.Table[engine.Member], prefix []byte) error {
	b, err := t.In(x)
	if err != nil {
		return err
	}
	c := b.Cursor()
	k, _ := engine.SeekBefore(c, append(bytes.Clone(prefix), engine.PositionKey(w.next)...))
	for range inputSlice {
		if !bytes.HasPrefix(k, prefix) || k == nil || w.done {
			w.done = true
			return nil
		}
		at := engine.KeyPosition(k)
		if at >= w.next {
			return engine.Damaged("keys of inputs are out of order")
		}
		w.next = at
		if _, err := w.visit(x, w.next); err != nil {
			return err
		}
		k, _ = c.Prev()
	}
	return nil
}

// visit takes the input at a position if it is chosen, and returns the one before it in its session.
func (w *inputWalk) visit(x *engine.Tx, at events.Position) (previous events.Position, err error) {
	in, ok, err := inputTable().Get(x, engine.PositionKey(at))
	if err != nil || !ok {
		return 0, err
	}
	if w.chosen && in.outcome != w.code || w.filter.Before != 0 && at >= w.filter.Before {
		return in.previous, nil
	}
	out, err := publicInput(w.deciders(x), at, in)
	if err != nil {
		return 0, err
	}
	if out.At.Before(w.filter.Since) {
		w.done = true // records are never older than those before them
		return 0, nil
	}
	if w.filter.admits(out) {
		w.found = append(w.found, out)
	}
	w.left--
	w.done = w.left <= 0 || len(w.found) == w.filter.Limit
	return in.previous, nil
}

func (f Filter) admits(in Input) bool {
	return (f.Class == "" || in.Class == f.Class) && (f.Reason == "" || in.Reason == f.Reason) &&
		(f.Kind == "" || in.Kind == f.Kind) && (f.Among == nil || f.Among[in.Session]) &&
		(f.Until.IsZero() || !in.At.After(f.Until)) && (f.Session.IsZero() || in.Session == f.Session)
}

// storedDecider reads a turn, however large, for its class and reason.
func storedDecider(x *engine.Tx) func(events.ID) (decider, error) {
	return func(id events.ID) (decider, error) {
		t, _, err := turnTable().Get(x, engine.IDKey(id))
		return t, err
	}
}

// deciders is storedDecider with the latest turn kept: inputs that follow each other were mostly settled together.
func (w *inputWalk) deciders(x *engine.Tx) func(events.ID) (decider, error) {
	return func(id events.ID) (t decider, err error) {
		if id == w.decidedBy && id != (events.ID{}) {
			return w.decided, nil
		}
		if t, err = storedDecider(x)(id); err == nil {
			w.decidedBy, w.decided = id, t
		}
		return t, err
	}
}

// publicInput is an input as readers know it.
func publicInput(deciderOf func(events.ID) (decider, error), at events.Position, in input) (Input, error) {
	out := Input{
		Position: at, Session: in.session, Kind: kindsByCode()[in.kind], At: time.Unix(0, in.at).UTC(),
		Outcome: Outcome(in.outcome.String()), Turn: in.turn, Reason: in.reason, Reobserve: in.reobserve(),
	}
	if in.givenUp || in.outcome != session.Dropped && in.outcome != session.Skipped {
		return out, nil
	}
	t, err := deciderOf(in.turn)
	out.Class, out.Reason = t.Class, t.Reason
	return out, err
}

// Ledger returns the balances of all sessions as they stand at one position, for whoever counts again.
func (v Reader) Ledger(ctx context.Context) (Ledger, error) {
	var l Ledger
	err := v.View(ctx, View{}.Name(), func(x *engine.Tx) error {
		l = Ledger{Position: x.Checkpoint, Sessions: map[events.SessionID]Balance{}}
		return l.read(x)
	})
	return l, err
}

func (l *Ledger) read(x *engine.Tx) error {
	for b, err := range balanceTable().From(x, nil, nil) {
		if err != nil || len(b.Key) != len(events.SessionID{}) {
			return cmp.Or(err, engine.Damaged("balance %x", b.Key))
		}
		if id := events.SessionID(b.Key); !id.IsZero() {
			l.Sessions[id] = b.Value.public()
			continue
		}
		l.All = b.Value.public()
	}
	return nil
}
