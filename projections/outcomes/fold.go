package outcomes

import (
	"maps"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/turn"
)

type fold struct {
	x        *engine.Tx
	inputs   *engine.Cache[events.Position, input]
	turns    *engine.Cache[events.ID, decider]
	balances *engine.Cache[events.SessionID, balance]
}

func (View) Fold(x *engine.Tx) engine.Fold {
	return &fold{
		x:        x,
		inputs:   engine.NewCache(x, inputTable(), engine.PositionKey),
		turns:    engine.NewCache(x, turnTable(), engine.IDKey),
		balances: engine.NewCache(x, balanceTable(), engine.SessionKey),
	}
}

func (f *fold) Apply(r *engine.Record) error {
	if r.Input() && !r.Session.IsZero() {
		return f.capture(r)
	}
	switch r.Kind {
	case events.KindTurnStarted:
		return turn.Start(f.turns, r, func(t *decider, e events.TurnStarted) { t.Settles = e.Settles })
	case events.KindTurnReceived:
		return f.answer(r)
	case events.KindObservationParsed, events.KindSummaryParsed:
		return f.settle(r, session.Observed)
	case events.KindOutputSkipped:
		return f.settle(r, session.Skipped)
	case events.KindOutputDropped:
		return f.settle(r, session.Dropped)
	case events.KindSessionRespawned:
		return f.refresh(r)
	case events.KindInputsDropped:
		return engine.Handle(r, f.giveUp)
	case events.KindReobserveRequested:
		return engine.Handle(r, f.ask)
	case events.KindMemoryForgotten:
		return f.forget(r)
	}
	return nil
}

func (f *fold) capture(r *engine.Record) error {
	b, err := f.balances.Edit(r.Session)
	if err != nil {
		return err
	}
	in, err := f.inputs.Edit(r.Position)
	if err != nil {
		return err
	}
	*in = input{session: r.Session, kind: codeOfKind(r.Kind), at: r.RecordedAt.UnixNano(), previous: b.Last}
	b.Last = r.Position
	return f.count(*in, +1)
}

// settle gives the inputs of r's turn the outcome that r means.
func (f *fold) settle(r *engine.Record, code session.Outcome) error {
	e, _, err := engine.PayloadOf[events.Event](r)
	if err != nil {
		return err
	}
	id := engine.TurnOf(r, engine.TurnSaid(e))
	known, err := f.turns.Peek(id)
	if err != nil || known == nil {
		return err
	}
	if code != session.Observed {
		t, err := f.turns.Edit(id)
		if err != nil {
			return err
		}
		t.Class, t.Reason = whyOf(e)
	}
	if err := f.changeAll(known.Settles, func(in *input) { in.settle(code, id) }); err != nil {
		return err
	}
	if dropped, ok := e.(events.OutputDropped); ok && session.LacksSummary(dropped) {
		return f.askAgain(id, known.Settles)
	}
	return nil
}

// whyOf is the class and reason of an output that gave nothing; empty if it was erased.
func whyOf(e events.Event) (class, reason string) {
	switch e := e.(type) {
	case events.OutputDropped:
		return e.Class, e.Reason
	case events.OutputSkipped:
		return "", e.Reason
	}
	return "", ""
}

func (f *fold) giveUp(r *engine.Record, e events.InputsDropped) error {
	return f.changeAll(e.Inputs, func(in *input) { in.giveUp(e.Turn, e.Reason) })
}

func (f *fold) ask(r *engine.Record, e events.ReobserveRequested) error {
	return f.changeAll(e.Inputs, (*input).ask)
}

func (f *fold) forget(r *engine.Record) error {
	return engine.ForgottenRecords(f.x, r, func(h events.Header) error {
		if h.Kind == events.KindOutputDropped || h.Kind == events.KindOutputSkipped {
			return f.forgetReason(h.Correlation)
		}
		if h.Stream != r.Stream {
			return nil // an input is forgotten in its own session's stream
		}
		return f.change(h.Position, (*input).forget)
	})
}

// forgetReason takes back why a turn gave nothing. Its inputs keep their outcome.
func (f *fold) forgetReason(turn events.ID) error {
	t, err := f.turns.EditKnown(turn)
	if err != nil || t == nil {
		return err
	}
	if err := f.countTurn(turn, t.Settles, -1); err != nil {
		return err
	}
	t.Class, t.Reason = "", ""
	if err := f.countTurn(turn, t.Settles, +1); err != nil {
		return err
	}
	return f.forgetAgain(turn, *t)
}

func (f *fold) countTurn(turn events.ID, settles []events.Position, by int64) error {
	for _, p := range settles {
		in, err := f.inputs.Peek(p)
		if err != nil {
			return err
		}
		if in == nil || in.turn != turn {
			continue
		}
		if err := f.count(*in, by); err != nil {
			return err
		}
	}
	return nil
}

// changeAll is change of several inputs.
func (f *fold) changeAll(inputs []events.Position, alter func(*input)) error {
	for _, p := range inputs {
		if err := f.change(p, alter); err != nil {
			return err
		}
	}
	return nil
}

// change alters one input and keeps the balances true. A position that is no input is passed over.
func (f *fold) change(p events.Position, alter func(*input)) error {
	known, err := f.inputs.Peek(p)
	if err != nil || known == nil {
		return err
	}
	was := *known
	now := was
	alter(&now)
	if now == was {
		return nil
	}
	if err := f.count(was, -1); err != nil {
		return err
	}
	in, err := f.inputs.Edit(p)
	if err != nil {
		return err
	}
	*in = now
	if err := f.rare(p, was.outcome, now.outcome); err != nil {
		return err
	}
	return f.count(now, +1)
}

// rare keeps the index of the outcomes that few inputs have.
func (f *fold) rare(p events.Position, was, now session.Outcome) error {
	if was == now {
		return nil
	}
	if rare(was) {
		if err := rareTable().Delete(f.x, rareKey(was, p)); err != nil {
			return err
		}
	}
	if !rare(now) {
		return nil
	}
	return rareTable().Put(f.x, rareKey(now, p), engine.Member{})
}

// count adds by to what the input counts for, in its session's balance and in that of all.
func (f *fold) count(in input, by int64) error {
	reason, err := f.reasonOf(in)
	if err != nil {
		return err
	}
	for _, session := range []events.SessionID{in.session, {}} {
		b, err := f.balances.Edit(session)
		if err != nil {
			return err
		}
		b.Counts[in.outcome] += by
		if in.reobserve() {
			b.Asked += by
		}
		b.addReason(reason, by)
	}
	return nil
}

// reasonOf is the key under which the input's reason is counted; empty for outcomes without one.
func (f *fold) reasonOf(in input) (string, error) {
	if in.outcome != session.Skipped && in.outcome != session.Dropped {
		return "", nil
	}
	class, reason := "", in.reason
	if !in.givenUp {
		t, err := f.turns.Peek(in.turn)
		if err != nil {
			return "", err
		}
		if t != nil {
			class, reason = t.Class, t.Reason
		}
	}
	return reasonKey(in.outcome, class, reason), nil
}

func reasonKey(c session.Outcome, class, reason string) string {
	return strings.Join([]string{c.String(), class, reason}, "\x00")
}

func (b *balance) addReason(key string, by int64) {
	if key == "" {
		return
	}
	if b.Reasons == nil {
		b.Reasons = map[string]int64{}
	}
	if b.Reasons[key] += by; b.Reasons[key] == 0 {
		delete(b.Reasons, key)
	}
}

func (f *fold) Flush() error {
	if err := engine.Flush(f.inputs, f.turns, f.balances); err != nil {
		return err
	}
	for _, session := range f.balances.Order {
		if err := f.owe(session); err != nil {
			return err
		}
	}
	return nil
}

func (f *fold) owe(id events.SessionID) error {
	b, err := f.balances.Peek(id)
	if err != nil || b == nil || id.IsZero() {
		return err
	}
	if b.Counts[session.Pending] == 0 && b.Asked == 0 {
		return OwingTable().Delete(f.x, engine.SessionKey(id))
	}
	return OwingTable().Put(f.x, engine.SessionKey(id), engine.Member{})
}

// public is b as readers know it.
func (b balance) public() Balance {
	out := Balance{
		Observed: int(b.Counts[session.Observed]), Skipped: int(b.Counts[session.Skipped]), Dropped: int(b.Counts[session.Dropped]),
		Pending: int(b.Counts[session.Pending]), Forgotten: int(b.Counts[session.Forgotten]), Reobserve: int(b.Asked),
	}
	out.Captured = out.Observed + out.Skipped + out.Dropped + out.Pending + out.Forgotten
	for _, key := range slices.Sorted(maps.Keys(b.Reasons)) {
		part := strings.SplitN(key, "\x00", 3)
		out.Reasons = append(out.Reasons, ReasonCount{
			Outcome: Outcome(part[0]), Class: part[1], Reason: part[2], Count: int(b.Reasons[key]),
		})
	}
	slices.SortStableFunc(out.Reasons, func(a, b ReasonCount) int { return b.Count - a.Count })
	return out
}
