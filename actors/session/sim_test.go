package session

import (
	"encoding/binary"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// sim plays one session against an imagined log: every decision is applied, appended, placed, and the result is
// compared with a fold of the whole stream.
type sim struct {
	tb      testing.TB
	codec   *events.Codec
	state   *State
	rules   Rules
	now     time.Time
	records []events.Record
	log     []events.Event
	last    events.Position
	ids     uint64
	plain   bool // skip the comparison with a fold: it is quadratic
}

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func newSim(tb testing.TB, limits policy.BatchLimits) *sim {
	return &sim{tb: tb, codec: events.NewCodec(), state: new(State), rules: Rules{Batch: limits}, now: start}
}

func (m *sim) id() events.ID {
	m.ids++
	var id events.ID
	binary.BigEndian.PutUint64(id[:8], uint64(m.now.UnixMilli())<<16|7<<12)
	binary.BigEndian.PutUint64(id[8:], m.ids<<20|1<<63)
	return id
}

// do decides, appends and places; it returns the refusal, if there was one.
func (m *sim) do(cmd Command) error {
	m.tb.Helper()
	drafts, err := Decide(m.state, m.rules, cmd)
	if err != nil {
		return err
	}
	Apply(m.state, drafts)
	records := m.append(drafts)
	m.state.Place(records)
	m.check()
	return nil
}

func (m *sim) must(cmd Command) {
	m.tb.Helper()
	if err := m.do(cmd); err != nil {
		m.tb.Fatalf("%s: %v", cmd.Name(), err)
	}
}

func (m *sim) append(drafts []events.Draft) []events.Record {
	var records []events.Record
	for _, d := range drafts {
		sealed, err := m.codec.Seal(d, events.Salt{})
		if err != nil {
			m.tb.Fatal(err)
		}
		m.last += 1 + events.Position(m.ids%3) // other sessions write in between
		r := m.codec.Place(sealed, m.last, "session/x", events.Version(len(m.records)+1), 0, events.Hash{}, m.now)
		m.records, m.log = append(m.records, r), append(m.log, d.Event)
		records = append(records, r)
	}
	return records
}

func (m *sim) fold() *State {
	m.tb.Helper()
	s, err := Fold(func(yield func(events.Record, error) bool) {
		for _, r := range m.records {
			if !yield(r, nil) {
				return
			}
		}
	})
	if err != nil {
		m.tb.Fatal(err)
	}
	return s
}

func (m *sim) check() {
	m.tb.Helper()
	b := m.state.Balance()
	if sum := b.Observed + b.Skipped + b.Dropped + b.Pending + b.Forgotten; sum != b.Captured {
		m.tb.Fatalf("balance: %+v adds up to %d", b, sum)
	}
	if m.plain {
		return
	}
	m.checkForgotten()
	if want := m.naive(); b != want {
		m.tb.Fatalf("balance: got %+v, the definition says %+v", b, want)
	}
	folded := m.fold()
	if reflect.DeepEqual(folded, m.state) {
		return // cmp.Diff takes ten times as long, which was most of the time
	}
	if d := cmp.Diff(folded, m.state, unexported, equateEmpty); d != "" {
		m.tb.Fatalf("a fold of the stream differs from the live state (-fold +live):\n%s", d)
	}
}

// checkForgotten has no turn due that settles, offers or names what was forgotten.
func (m *sim) checkForgotten() {
	m.tb.Helper()
	p := m.plan()
	for _, w := range []*Work{p.Turn, p.Alternative} {
		if w == nil {
			continue
		}
		named := slices.Concat(w.Settles, w.Offers, w.Brief, []events.Position{w.PromptAt})
		for _, at := range w.Reads {
			if !slices.Contains(w.Gone, at) {
				named = append(named, at)
			}
		}
		for _, e := range m.log {
			e, ok := e.(events.MemoryForgotten)
			if ok && slices.ContainsFunc(named, func(at events.Position) bool { return slices.Contains(e.Positions, at) }) {
				m.tb.Fatalf("%v was forgotten, and a turn over %v is due", e.Positions, named)
			}
		}
	}
}

// naive computes the balance from the definition of an outcome, without any state: the latest turn that kept or
// skipped an input decides; else it is dropped, if a turn dropped it or InputsDropped names it; else it is pending.
func (m *sim) naive() Balance {
	settles := map[events.ID][]events.Position{}
	outcome := map[events.Position]Outcome{}
	set := func(ps []events.Position, o Outcome) {
		for _, p := range ps {
			if was, input := outcome[p]; input && was != Forgotten && (o != Dropped || was == Pending) {
				outcome[p] = o
			}
		}
	}
	for i, r := range m.records {
		if r.IsInput() {
			outcome[r.Position] = Pending
		}
		switch e := m.log[i].(type) {
		case events.TurnStarted:
			settles[e.Turn] = e.Settles
		case events.ObservationParsed:
			set(settles[e.Turn], Observed)
		case events.SummaryParsed:
			set(settles[e.Turn], Observed)
		case events.OutputSkipped:
			set(settles[e.Turn], Skipped)
		case events.OutputDropped:
			set(settles[e.Turn], Dropped)
		case events.InputsDropped:
			set(e.Inputs, Dropped)
		case events.MemoryForgotten:
			set(e.Positions, Forgotten)
		}
	}
	var b Balance
	for _, o := range outcome {
		b.Captured++
		*[]*int{&b.Pending, &b.Observed, &b.Skipped, &b.Dropped, &b.Forgotten}[o]++
	}
	return b
}

var unexported = cmp.AllowUnexported(State{}, input{}, reference{}, observation{}, keptPrompt{}, keptText{}, failedTurn{}, keptSummary{}, turn{}, quarantine{})

var equateEmpty = cmp.FilterValues(func(a, b any) bool { return isEmpty(a) && isEmpty(b) }, cmp.Comparer(func(_, _ any) bool { return true }))

func isEmpty(v any) bool {
	switch v := v.(type) {
	case []int:
		return len(v) == 0
	case []time.Time:
		return len(v) == 0
	case []reference:
		return len(v) == 0
	case []observation:
		return len(v) == 0
	case []keptPrompt:
		return len(v) == 0
	case []keptText:
		return len(v) == 0
	case []keptSummary:
		return len(v) == 0
	case []failedTurn:
		return len(v) == 0
	case []input:
		return len(v) == 0
	}
	return false
}

var origin = Origin{Agent: "claude-code", AgentSession: "s1", Project: "p", ProjectRoot: "/p", Cwd: "/p"}

func (m *sim) capture(e events.Event) Capture {
	return Capture{ID: m.id(), At: m.now, Origin: origin, Event: e}
}

func (m *sim) tool(name string) { m.tb.Helper(); m.must(m.capture(events.ToolUsed{Tool: name})) }

func (m *sim) stop() { m.tb.Helper(); m.must(m.capture(events.AgentStopped{Cause: events.StopDone})) }

func (m *sim) plan() Plan { return Next(m.state, m.rules, m.now) }

// start begins the turn that is due and returns its id.
func (m *sim) start() events.ID {
	m.tb.Helper()
	p := m.plan()
	if p.Turn == nil {
		m.tb.Fatalf("no turn is due: %+v", p)
	}
	turn := m.id()
	w := *p.Turn
	w.Reads = slices.Concat(w.Reads, w.Offers)
	m.must(StartTurn{Turn: turn, At: m.now, Work: w, Provider: "test"})
	return turn
}

func (m *sim) received(turn events.ID) events.TurnReceived {
	return events.TurnReceived{Turn: turn, Form: events.FormXML, Output: events.NewOutput("...")}
}

func (m *sim) keep(turn events.ID) Answer {
	return Answer{ID: m.id(), At: m.now, Received: m.received(turn),
		Observations: []events.ObservationParsed{{Observation: m.id(), Turn: turn, Title: "t"}}}
}

func (m *sim) drop(turn events.ID, reason string) Answer {
	return Answer{ID: m.id(), At: m.now, Received: m.received(turn),
		Dropped: &events.OutputDropped{Turn: turn, Class: "prose", Reason: reason}}
}

func (m *sim) skip(turn events.ID, reason string) Answer {
	return Answer{ID: m.id(), At: m.now, Received: m.received(turn), Skipped: &events.OutputSkipped{Turn: turn, Reason: reason}}
}

// fail ends a turn as failed. Of its provider is known what it answered to this session.
func (m *sim) fail(turn events.ID, c events.FailureClass) Fail {
	f := Fail{ID: m.id(), At: m.now, Failed: events.TurnFailed{Turn: turn, Class: c}}
	if c.BlamesTurn() {
		f.Failed.Answered = m.answered()
	}
	return f
}

// answered is the position of the last output; 0: none.
func (m *sim) answered() events.Position {
	for i := len(m.records) - 1; i >= 0; i-- {
		if m.records[i].Kind == events.KindTurnReceived {
			return m.records[i].Position
		}
	}
	return 0
}

func (m *sim) kinds() []events.Kind {
	var ks []events.Kind
	for _, e := range m.log {
		ks = append(ks, events.KindOf(e))
	}
	return ks
}

func lastOf[E events.Event](m *sim) (E, bool) {
	for i := len(m.log) - 1; i >= 0; i-- {
		if e, ok := m.log[i].(E); ok {
			return e, true
		}
	}
	var none E
	return none, false
}
