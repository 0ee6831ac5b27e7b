package session

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// positions are those of the records of a kind.
func (m *sim) positions(k events.Kind) (at []events.Position) {
	for _, r := range m.records {
		if r.Kind == k {
			at = append(at, r.Position)
		}
	}
	return at
}

// summarize answers the summary turn that is due, a minute later.
func (m *sim) summarize() {
	m.tb.Helper()
	m.now = m.now.Add(time.Minute)
	if w := m.plan().Turn; w == nil || w.Kind != events.TurnSummary {
		m.tb.Fatalf("due is %+v, want a summary", w)
	}
	turn := m.start()
	m.must(Answer{ID: m.id(), At: m.now, Received: m.received(turn), Summary: &events.SummaryParsed{Summary: m.id(), Turn: turn}})
}

// answers plays n answers of the agent, each observed and summed up.
func (m *sim) answers(n int) {
	m.tb.Helper()
	for range n {
		m.must(m.capture(events.PromptSubmitted{Text: "go on"}))
		m.tool("Edit")
		m.stop()
		m.must(m.keep(m.start()))
		m.summarize()
	}
}

// TestASummaryIsOfTheWholeSession, and by older rules of the work since the stop before.
func TestASummaryIsOfTheWholeSession(t *testing.T) {
	t.Parallel()
	for version, want := range map[int]func(m *sim) (reads, offers []events.Position){
		RulesTalk: func(m *sim) (_, _ []events.Position) { return m.positions(events.KindObservationParsed)[2:], nil },
		RulesWhole: func(m *sim) (_, _ []events.Position) {
			return nil, slices.Sorted(slices.Values(slices.Concat(m.positions(events.KindPromptSubmitted)[1:], m.positions(events.KindObservationParsed))))
		},
	} {
		m := newSim(t, policy.ModelLimits())
		m.rules.Version = version
		m.must(m.capture(events.PromptSubmitted{Private: true}))
		m.must(m.capture(events.PromptSubmitted{Text: "begin"}))
		m.answers(2)
		m.tool("Edit")
		m.stop()
		m.must(m.keep(m.start()))
		reads, offers := want(m)
		if w := m.plan().Turn; !cmp.Equal(w.Reads, reads) || !cmp.Equal(w.Offers, offers) {
			t.Errorf("rules %d: got %+v, want it to read %v and to be offered %v", version, w, reads, offers)
		}
	}
}

func TestASummaryIsOfferedTheFirstAndTheLastPrompts(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	m.plain = true
	for range 2 * maxRequests {
		m.must(m.capture(events.PromptSubmitted{Text: "and this"}))
	}
	all := m.positions(events.KindPromptSubmitted)
	m.tool("Edit")
	m.stop()
	m.must(m.drop(m.start(), events.ReasonNoXML))
	if got, want := m.plan().Turn.Offers, slices.Concat(all[:1], all[len(all)-maxRequests+1:]); !cmp.Equal(got, want) {
		t.Errorf("offered %v, want %v", got, want)
	}
}

// TestASummaryReadsOfWhatItIsOffered and nothing else.
func TestASummaryReadsOfWhatItIsOffered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reads func(offers []events.Position) []events.Position
		ok    bool
	}{
		"all":              {func(o []events.Position) []events.Position { return o }, true},
		"nothing":          {func([]events.Position) []events.Position { return nil }, true},
		"some":             {func(o []events.Position) []events.Position { return []events.Position{o[0], o[2]} }, true},
		"one twice":        {func(o []events.Position) []events.Position { return []events.Position{o[0], o[0]} }, false},
		"in another order": {func(o []events.Position) []events.Position { return []events.Position{o[2], o[0]} }, false},
		"something else":   {func(o []events.Position) []events.Position { return append(slices.Clone(o), o[len(o)-1]+1) }, false},
	} {
		m := newSim(t, policy.ModelLimits())
		m.answers(1)
		m.must(m.capture(events.PromptSubmitted{Text: "more"}))
		m.tool("Edit")
		m.stop()
		m.must(m.keep(m.start()))
		w := *m.plan().Turn
		w.Reads = c.reads(w.Offers)
		err := m.do(StartTurn{Turn: m.id(), At: m.now, Work: w, Provider: "test"})
		if c.ok && err != nil || !c.ok && !errors.Is(err, ErrNotDue) {
			t.Errorf("%s: got %v, want it let through: %t", name, err, c.ok)
		}
	}
}

// TestAForgottenSummaryIsOwedAnew: one new turn, of the last stop that is left, where the newest is taken and none is owed.
func TestAForgottenSummaryIsOwedAnew(t *testing.T) {
	t.Parallel()
	type at struct{ summaries, stops []events.Position }
	for name, c := range map[string]struct {
		take    func(p at) []events.Position
		before  func(m *sim)
		version int
		stop    int // of which a summary is owed, from 0; -1: of none
	}{
		"the newest":            {take: func(p at) []events.Position { return p.summaries[2:] }, stop: 2},
		"an older one":          {take: func(p at) []events.Position { return p.summaries[:2] }, stop: -1},
		"all of them":           {take: func(p at) []events.Position { return p.summaries }, stop: 2},
		"with its stop":         {take: func(p at) []events.Position { return append(p.stops[2:], p.summaries[2:]...) }, stop: 1},
		"with all stops":        {take: func(p at) []events.Position { return append(p.stops, p.summaries...) }, stop: -1},
		"by older rules":        {take: func(p at) []events.Position { return p.summaries }, version: RulesTalk, stop: -1},
		"while another is owed": {take: func(p at) []events.Position { return p.summaries }, before: func(m *sim) { m.tool("Edit"); m.stop() }, stop: -1},
		"while words are owed":  {take: func(p at) []events.Position { return p.summaries }, before: func(m *sim) { m.must(m.capture(events.AgentStopped{LastMessage: "So be it."})) }, stop: 2},
		"what was skipped since": {take: func(p at) []events.Position { return p.summaries[2:] }, before: func(m *sim) {
			m.tool("Edit")
			m.stop()
			m.must(m.keep(m.start()))
			m.must(m.skip(m.start(), events.ReasonSkipSummary))
		}, stop: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newSim(t, policy.ModelLimits())
			m.answers(3)
			if c.before != nil {
				c.before(m)
			}
			m.rules.Version = c.version
			p := at{m.positions(events.KindSummaryParsed), m.positions(events.KindAgentStopped)}
			was := m.state.Balance()
			m.must(Forget{ID: m.id(), At: m.now, Forgotten: []events.MemoryForgotten{{Positions: c.take(p)}}})
			asked, ok := lastOf[events.ReobserveRequested](m)
			if ok != (c.stop >= 0) || ok && !cmp.Equal(asked.Inputs, p.stops[c.stop:][:1]) {
				t.Fatalf("asked for %v: %t, want the stop %d of %v", asked.Inputs, ok, c.stop, p.stops)
			}
			if forgot := m.state.Balance().Forgotten; m.state.Balance().Captured != was.Captured || m.state.Balance().Pending != was.Pending && forgot == 0 {
				t.Errorf("the balance was %+v and is %+v", was, m.state.Balance())
			}
			if !ok {
				return
			}
			for m.plan().Turn.Kind == events.TurnObservation {
				m.must(m.keep(m.start()))
			}
			m.summarize()
			if w := m.plan().Turn; w != nil && w.Kind == events.TurnSummary {
				t.Errorf("and then another is due: %+v", w)
			}
		})
	}
}

// TestWhatIsForgottenIsOfferedToNoSummary, before its payload is erased.
func TestWhatIsForgottenIsOfferedToNoSummary(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	m.answers(2)
	gone := []events.Position{
		m.positions(events.KindPromptSubmitted)[0], m.positions(events.KindObservationParsed)[1], m.positions(events.KindSummaryParsed)[1],
	}
	m.must(Forget{ID: m.id(), At: m.now, Forgotten: []events.MemoryForgotten{{Positions: gone}}})
	want := []events.Position{m.positions(events.KindObservationParsed)[0], m.positions(events.KindPromptSubmitted)[1]}
	if w := m.plan().Turn; w == nil || !cmp.Equal(w.Offers, want) {
		t.Errorf("got %+v, want it offered %v", w, want)
	}
}

// TestASummaryIsOfferedNothingLater: the summary of an earlier stop that is asked for again tells nothing of what came behind it.
func TestASummaryIsOfferedNothingLater(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	m.answers(3)
	prompts, seen, stops := m.positions(events.KindPromptSubmitted), m.positions(events.KindObservationParsed), m.positions(events.KindAgentStopped)
	m.must(Reobserve{ID: m.id(), At: m.now, Inputs: stops[1:2]})
	want := slices.Sorted(slices.Values(slices.Concat(prompts[:2], seen[:2])))
	if w := m.plan().Turn; w == nil || w.Kind != events.TurnSummary || !cmp.Equal(w.Offers, want) {
		t.Errorf("got %+v, want it offered %v", w, want)
	}
}
