package session

import (
	"errors"
	"slices"
	"testing"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// observedTwice is a session with two observed inputs, and a stop whose summary is owed.
func observedTwice(t *testing.T) (m *sim, seen []events.Position) {
	t.Helper()
	m = newSim(t, policy.BatchLimits{MaxInputs: 1})
	for range 2 {
		m.tool("Edit")
		m.must(m.keep(m.start()))
	}
	for _, r := range m.records {
		if r.Kind == events.KindObservationParsed {
			seen = append(seen, r.Position)
		}
	}
	m.stop()
	return m, seen
}

// TestForgottenObservationsAreReadByNobody: neither a summary nor a brief names what is forgotten.
func TestForgottenObservationsAreReadByNobody(t *testing.T) {
	t.Parallel()
	m, seen := observedTwice(t)
	if w := m.plan().Turn; w == nil || !slices.Equal(w.Offers, seen) || !slices.Equal(w.Brief, seen) {
		t.Fatalf("the summary is offered %+v, want %v", w, seen)
	}
	m.must(Forget{ID: m.id(), At: m.now, Forgotten: []events.MemoryForgotten{{Positions: seen[:1]}}})
	if w := m.plan().Turn; w == nil || !slices.Equal(w.Offers, seen[1:]) || !slices.Equal(w.Brief, seen[1:]) {
		t.Errorf("after forgetting the summary is offered %+v, want %v", w, seen[1:])
	}
}

// TestForgetCutsWhoWasTold by every way in which a turn is told something, and nobody else.
func TestForgetCutsWhoWasTold(t *testing.T) {
	t.Parallel()
	for name, told := range map[string]func(m *sim, w Work, seen []events.Position) events.Position{
		"what it settles": func(_ *sim, w Work, _ []events.Position) events.Position { return w.Settles[0] },
		"what it reads":   func(_ *sim, _ Work, seen []events.Position) events.Position { return seen[1] },
		"another":         func(m *sim, _ Work, _ []events.Position) events.Position { return m.records[0].Position },
	} {
		m, seen := observedTwice(t)
		w := *m.plan().Turn
		id := m.start()
		m.must(Forget{ID: m.id(), At: m.now, Forgotten: []events.MemoryForgotten{{Positions: []events.Position{told(m, w, seen)}}}})
		_, flying := m.state.InFlight()
		if cut := name != "another"; flying == cut {
			t.Errorf("%s: in flight %t after it was forgotten", name, flying)
		}
		if f, ok := lastOf[events.TurnFailed](m); ok && (f.Turn != id || !f.Clean || f.Class != events.FailInterrupted) {
			t.Errorf("%s: %+v", name, f)
		}
		if m.state.Generation() != 0 {
			t.Errorf("%s: the observer was blamed", name)
		}
	}
}

// TestAnErasedFailureEndsItsTurn: a fold of what is left does not take the turn for one in flight.
func TestAnErasedFailureEndsItsTurn(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.BatchLimits{MaxInputs: 1})
	m.tool("Edit")
	m.must(m.fail(m.start(), events.FailTimeout))
	var s State
	for _, r := range m.records {
		e, err := r.Event()
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == events.KindTurnFailed {
			e = nil
		}
		Evolve(&s, r.Header, e)
	}
	if _, flying := s.InFlight(); flying || !s.Owes() {
		t.Errorf("in flight %t, owes %t", flying, s.Owes())
	}
}

func TestForgetRefuses(t *testing.T) {
	t.Parallel()
	m, _ := observedTwice(t)
	if err := m.do(Forget{ID: m.id(), At: m.now}); !errors.Is(err, ErrNothingToForget) {
		t.Errorf("nothing named: %v", err)
	}
	fresh := newSim(t, policy.ModelLimits())
	if err := fresh.do(Forget{ID: m.id(), At: m.now, Forgotten: []events.MemoryForgotten{{}}}); !errors.Is(err, ErrNothingToForget) {
		t.Errorf("nobody heard of: %v", err)
	}
}

// TestForgetCutsWhoReadsAText: what a turn reads beside what it settles interrupts it too.
func TestForgetCutsWhoReadsAText(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.BatchLimits{})
	m.tool("Edit")
	m.must(m.capture(events.AgentSaid{Text: "said"}))
	m.stop()
	w := *m.plan().Turn
	if len(w.Settles) != 1 || len(w.Reads) != 2 {
		t.Fatalf("%+v is due, want a turn that settles the edit and reads what was said and the stop", w)
	}
	for _, read := range w.Reads {
		m.start()
		m.must(Forget{ID: m.id(), At: m.now, Forgotten: []events.MemoryForgotten{{Positions: []events.Position{read}}}})
		if _, flying := m.state.InFlight(); flying {
			t.Fatalf("the turn goes on, which reads %d", read)
		}
	}
}
