package projections

import (
	"maps"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/events"
)

// outcomeView keeps the outcome of every input, and the balance of each session and of all.
type outcomeView struct{}

func (outcomeView) name() string       { return "outcomes" }
func (outcomeView) version() int       { return 2 }
func (outcomeView) skipsUnknown() bool { return false }

func inputTable() table[input]         { return table[input]{name: "rows", ordered: true} }
func outcomeTurnTable() table[decider] { return table[decider]{name: "turns", ordered: true} }
func balanceTable() table[balance]     { return table[balance]{name: "balances"} }
func owingTable() table[member]        { return table[member]{name: "owing"} } // sessions with something to settle
func rareTable() table[member]         { return table[member]{name: "rare"} }  // skipped, dropped, forgotten: by outcome, position

func (outcomeView) tables() []tableSpec {
	return []tableSpec{
		inputTable().spec(showPosition), outcomeTurnTable().spec(showID), balanceTable().spec(showID),
		owingTable().spec(showID), rareTable().spec(showHex),
	}
}

// decider is a turn as far as outcomes depend on it.
type decider struct {
	Settles []events.Position `cbor:"1,keyasint,omitempty" json:"settles"`
	Class   string            `cbor:"2,keyasint,omitempty" json:"class,omitempty"`
	Reason  string            `cbor:"3,keyasint,omitempty" json:"reason,omitempty"`
	Fresh   bool              `cbor:"4,keyasint,omitempty" json:"fresh,omitempty"` // its answer earned a fresh generation
}

// balance is the stored form of a Balance. The zero session's is that of all.
type balance struct {
	Counts  [outcomeCodes]int64 `cbor:"1,keyasint" json:"counts"` // by code
	Reasons map[string]int64    `cbor:"2,keyasint,omitempty" json:"reasons,omitempty"`
	Asked   int64               `cbor:"3,keyasint,omitempty" json:"asked,omitempty"` // to be observed again, as input.reobserve says
	Last    events.Position     `cbor:"4,keyasint,omitempty" json:"last,omitempty"`  // the session's latest input
}

func rareKey(c outcomeCode, p events.Position) []byte {
	return append([]byte{byte(c)}, positionKey(p)...)
}

type outcomeFold struct {
	x        *tx
	inputs   *cache[events.Position, input]
	turns    *cache[events.ID, decider]
	balances *cache[events.SessionID, balance]
}

func (outcomeView) fold(x *tx) fold {
	return &outcomeFold{
		x:        x,
		inputs:   newCache(x, inputTable(), positionKey),
		turns:    newCache(x, outcomeTurnTable(), idKey),
		balances: newCache(x, balanceTable(), sessionKey),
	}
}

func (f *outcomeFold) apply(r *record) error {
	if r.Input() && !r.session.IsZero() {
		return f.capture(r)
	}
	switch r.Kind {
	case events.KindTurnStarted:
		return f.start(r)
	case events.KindTurnReceived:
		return f.answer(r)
	case events.KindObservationParsed, events.KindSummaryParsed:
		return f.settle(r, codeObserved)
	case events.KindOutputSkipped:
		return f.settle(r, codeSkipped)
	case events.KindOutputDropped:
		return f.settle(r, codeDropped)
	case events.KindSessionRespawned:
		return f.refresh(r)
	case events.KindInputsDropped:
		return f.giveUp(r)
	case events.KindReobserveRequested:
		return f.ask(r)
	case events.KindMemoryForgotten:
		return f.forget(r)
	}
	return nil
}

func (f *outcomeFold) capture(r *record) error {
	b, err := f.balances.edit(r.session)
	if err != nil {
		return err
	}
	in, err := f.inputs.edit(r.Position)
	if err != nil {
		return err
	}
	*in = input{session: r.session, kind: codeOfKind(r.Kind), at: r.RecordedAt.UnixNano(), previous: b.Last}
	b.Last = r.Position
	return f.count(*in, +1)
}

func (f *outcomeFold) start(r *record) error {
	e, ok, err := payloadOf[events.TurnStarted](r)
	if err != nil || !ok {
		return err
	}
	t, err := f.turns.edit(turnOf(r, e.Turn))
	if err != nil {
		return err
	}
	*t = decider{Settles: e.Settles}
	return nil
}

// settle gives the inputs of r's turn the outcome that r means.
func (f *outcomeFold) settle(r *record, code outcomeCode) error {
	e, _, err := payloadOf[events.Event](r)
	if err != nil {
		return err
	}
	id := turnOf(r, turnSaid(e))
	known, err := f.turns.peek(id)
	if err != nil || known == nil {
		return err
	}
	if code != codeObserved {
		t, err := f.turns.edit(id)
		if err != nil {
			return err
		}
		t.Class, t.Reason = whyOf(e)
	}
	for _, p := range known.Settles {
		if err := f.change(p, func(in *input) { in.settle(code, id) }); err != nil {
			return err
		}
	}
	if code == codeDropped && known.Reason == events.ReasonMissingSummary {
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

func (f *outcomeFold) giveUp(r *record) error {
	e, ok, err := payloadOf[events.InputsDropped](r)
	if err != nil || !ok {
		return err
	}
	for _, p := range e.Inputs {
		if err := f.change(p, func(in *input) { in.giveUp(e.Turn, e.Reason) }); err != nil {
			return err
		}
	}
	return nil
}

func (f *outcomeFold) ask(r *record) error {
	e, ok, err := payloadOf[events.ReobserveRequested](r)
	if err != nil || !ok {
		return err
	}
	for _, p := range e.Inputs {
		if err := f.change(p, (*input).ask); err != nil {
			return err
		}
	}
	return nil
}

func (f *outcomeFold) forget(r *record) error {
	e, ok, err := payloadOf[events.MemoryForgotten](r)
	if err != nil || !ok {
		return err
	}
	return forgottenRecords(f.x, e, func(h events.Header) error {
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
func (f *outcomeFold) forgetReason(turn events.ID) error {
	known, err := f.turns.peek(turn)
	if err != nil || known == nil {
		return err
	}
	if err := f.countTurn(turn, known.Settles, -1); err != nil {
		return err
	}
	t, err := f.turns.edit(turn)
	if err != nil {
		return err
	}
	t.Class, t.Reason = "", ""
	if err := f.countTurn(turn, t.Settles, +1); err != nil {
		return err
	}
	return f.forgetAgain(turn, *t)
}

func (f *outcomeFold) countTurn(turn events.ID, settles []events.Position, by int64) error {
	for _, p := range settles {
		in, err := f.inputs.peek(p)
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

// change alters one input and keeps the balances true. A position that is no input is passed over.
func (f *outcomeFold) change(p events.Position, alter func(*input)) error {
	known, err := f.inputs.peek(p)
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
	in, err := f.inputs.edit(p)
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
func (f *outcomeFold) rare(p events.Position, was, now outcomeCode) error {
	if was == now {
		return nil
	}
	if was.rare() {
		if err := rareTable().delete(f.x, rareKey(was, p)); err != nil {
			return err
		}
	}
	if !now.rare() {
		return nil
	}
	return rareTable().put(f.x, rareKey(now, p), member{})
}

// count adds by to what the input counts for, in its session's balance and in that of all.
func (f *outcomeFold) count(in input, by int64) error {
	reason, err := f.reasonOf(in)
	if err != nil {
		return err
	}
	for _, session := range []events.SessionID{in.session, {}} {
		b, err := f.balances.edit(session)
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
func (f *outcomeFold) reasonOf(in input) (string, error) {
	if in.outcome != codeSkipped && in.outcome != codeDropped {
		return "", nil
	}
	class, reason := "", in.reason
	if !in.givenUp {
		t, err := f.turns.peek(in.turn)
		if err != nil {
			return "", err
		}
		if t != nil {
			class, reason = t.Class, t.Reason
		}
	}
	return reasonKey(in.outcome, class, reason), nil
}

func reasonKey(c outcomeCode, class, reason string) string {
	return strings.Join([]string{string(c.outcome()), class, reason}, "\x00")
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

func (f *outcomeFold) flush() error {
	for _, flush := range []func() error{f.inputs.flush, f.turns.flush, f.balances.flush} {
		if err := flush(); err != nil {
			return err
		}
	}
	for _, session := range f.balances.order {
		if err := f.owe(session); err != nil {
			return err
		}
	}
	return nil
}

func (f *outcomeFold) owe(session events.SessionID) error {
	b, err := f.balances.peek(session)
	if err != nil || b == nil || session.IsZero() {
		return err
	}
	if b.Counts[codePending] == 0 && b.Asked == 0 {
		return owingTable().delete(f.x, sessionKey(session))
	}
	return owingTable().put(f.x, sessionKey(session), member{})
}

// public is b as readers know it.
func (b balance) public() Balance {
	out := Balance{
		Observed: int(b.Counts[codeObserved]), Skipped: int(b.Counts[codeSkipped]), Dropped: int(b.Counts[codeDropped]),
		Pending: int(b.Counts[codePending]), Forgotten: int(b.Counts[codeForgotten]), Reobserve: int(b.Asked),
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
