package outcomes

import (
	"maps"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/order"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/turn"
)

type fold struct {
	x        *engine.Tx
	inputs   *engine.Cache[events.Position, input]
	turns    *engine.Cache[events.ID, decider]
	balances *engine.Cache[events.SessionID, balance]
}

func (View) Fold(x *engine.Tx) func(*engine.Record) {
	f := &fold{
		x:        x,
		inputs:   engine.NewCache(x, inputTable(), engine.PositionKey),
		turns:    engine.NewCache(x, turnTable(), engine.IDKey),
		balances: engine.NewCache(x, balanceTable(), engine.SessionKey),
	}
	x.AtEnd(f.oweAll)
	return f.apply
}

func (f *fold) apply(r *engine.Record) {
	if r.IsInput() && !r.Session.IsZero() {
		f.capture(r)
		return
	}
	switch r.Kind {
	case events.KindTurnStarted:
		turn.Start(f.turns, r, func(t *decider, e events.TurnStarted) { t.Settles = e.Settles })
	case events.KindTurnReceived:
		f.answer(r)
	case events.KindObservationParsed, events.KindSummaryParsed:
		f.settle(r, session.Observed)
	case events.KindOutputSkipped:
		f.settle(r, session.Skipped)
	case events.KindOutputDropped:
		f.settle(r, session.Dropped)
	case events.KindSessionRespawned:
		engine.Handle(r, f.refresh)
	case events.KindInputsDropped:
		engine.Handle(r, f.giveUp)
	case events.KindReobserveRequested:
		engine.Handle(r, f.ask)
	case events.KindMemoryForgotten:
		f.forget(r)
	}
}

func (f *fold) capture(r *engine.Record) {
	b, in := f.balances.Edit(r.Session), f.inputs.Add(r.Position) // a slice begins behind the checkpoint
	*in = input{session: r.Session, kind: codeOfKind(r.Kind), at: r.RecordedAt.UnixNano(), previous: b.Last}
	b.Last = r.Position
	f.count(*in, +1)
}

// settle gives the inputs of r's turn the outcome that r means.
func (f *fold) settle(r *engine.Record, code session.Outcome) {
	e, _ := engine.PayloadOf[events.Event](r)
	id := engine.TurnOf(r, engine.TurnSaid(e))
	known := f.turns.Peek(id)
	if known == nil {
		return
	}
	if code != session.Observed {
		t := f.turns.Edit(id)
		t.Class, t.Reason = whyOf(e)
	}
	f.changeAll(known.Settles, func(in *input) { in.settle(code, id) })
	if dropped, ok := e.(events.OutputDropped); ok && session.LacksSummary(dropped) {
		f.askAgain(id, known.Settles)
	}
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

func (f *fold) giveUp(r *engine.Record, e events.InputsDropped) {
	f.changeAll(e.Inputs, func(in *input) { in.giveUp(e.Turn, e.Reason) })
}

func (f *fold) ask(r *engine.Record, e events.ReobserveRequested) {
	f.changeAll(e.Inputs, (*input).ask)
}

func (f *fold) forget(r *engine.Record) {
	for h := range engine.ForgottenRecords(f.x, r) {
		switch {
		case h.Kind == events.KindOutputDropped || h.Kind == events.KindOutputSkipped:
			f.forgetReason(h.Correlation)
		case h.Stream == r.Stream: // an input is forgotten in its own session's stream
			f.change(h.Position, (*input).forget)
		}
	}
}

// forgetReason takes back why a turn gave nothing. Its inputs keep their outcome.
func (f *fold) forgetReason(turn events.ID) {
	t := f.turns.EditExisting(turn)
	if t == nil {
		return
	}
	f.countTurn(turn, t.Settles, -1)
	t.Class, t.Reason = "", ""
	f.countTurn(turn, t.Settles, +1)
	f.forgetAgain(turn, *t)
}

func (f *fold) countTurn(turn events.ID, settles []events.Position, by int64) {
	for _, p := range settles {
		if in := f.inputs.Peek(p); in != nil && in.turn == turn {
			f.count(*in, by)
		}
	}
}

// changeAll is change of several inputs.
func (f *fold) changeAll(inputs []events.Position, alter func(*input)) {
	for _, p := range inputs {
		f.change(p, alter)
	}
}

// change alters one input and keeps the balances true. A position that is no input is passed over.
func (f *fold) change(p events.Position, alter func(*input)) {
	known := f.inputs.Peek(p)
	if known == nil {
		return
	}
	was, now := *known, *known
	alter(&now)
	if now == was {
		return
	}
	f.count(was, -1)
	*f.inputs.Edit(p) = now
	f.rare(p, was.outcome, now.outcome)
	f.count(now, +1)
}

// rare keeps the index of the outcomes that few inputs have.
func (f *fold) rare(p events.Position, was, now session.Outcome) {
	if was != now && rare(was) {
		rareTable().Delete(f.x, rareKey(was, p))
	}
	if was != now && rare(now) {
		rareTable().Put(f.x, rareKey(now, p), engine.Member{})
	}
}

// count adds by to what the input counts for, in its session's balance and in that of all.
func (f *fold) count(in input, by int64) {
	reason := f.reasonOf(in)
	for _, session := range []events.SessionID{in.session, {}} {
		b := f.balances.Edit(session)
		b.Counts[in.outcome] += by
		if in.reobserve() {
			b.Asked += by
		}
		b.addReason(reason, by)
	}
}

// reasonOf is the key under which the input's reason is counted; empty for outcomes without one.
func (f *fold) reasonOf(in input) string {
	if in.outcome != session.Skipped && in.outcome != session.Dropped {
		return ""
	}
	class, reason := "", in.reason
	if !in.givenUp {
		if t := f.turns.Peek(in.turn); t != nil {
			class, reason = t.Class, t.Reason
		}
	}
	return reasonKey(in.outcome, class, reason)
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

// oweAll brings the list of the sessions that owe something up to their balances.
func (f *fold) oweAll() {
	for _, session := range f.balances.Order {
		if !session.IsZero() {
			f.owe(session)
		}
	}
}

func (f *fold) owe(id events.SessionID) {
	if b := f.balances.Peek(id); b.Counts[session.Pending] == 0 && b.Asked == 0 {
		OwingTable().Delete(f.x, engine.SessionKey(id))
	} else {
		OwingTable().Put(f.x, engine.SessionKey(id), engine.Member{})
	}
}

// public is b as readers know it.
func (b balance) public() Balance {
	out := Balance{Balance: session.BalanceOf(b.Counts[:]), Reobserve: int(b.Asked)}
	for _, key := range slices.Sorted(maps.Keys(b.Reasons)) {
		part := strings.SplitN(key, "\x00", 3)
		out.Reasons = append(out.Reasons, ReasonCount{
			Outcome: Outcome(part[0]), Class: part[1], Reason: part[2], Count: int(b.Reasons[key]),
		})
	}
	order.By(out.Reasons, func(a, b ReasonCount) int { return b.Count - a.Count })
	return out
}
