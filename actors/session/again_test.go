package session

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// observe keeps n observations of the turn that is due, and returns where they are.
func (m *sim) observe(n int) (at []events.Position) {
	m.tb.Helper()
	turn := m.start()
	a := m.keep(turn)
	for range n - 1 {
		a.Observations = append(a.Observations, events.ObservationParsed{Observation: m.id(), Turn: turn, Title: "more"})
	}
	m.must(a)
	for _, r := range m.state.seen[len(m.state.seen)-n:] {
		at = append(at, r.position)
	}
	return at
}

// TestAskedAgainIsDueAtOnce: what a person asks for again waits for no batch to fill, and for no stop, in the stretch of work that goes on.
func TestAskedAgainIsDueAtOnce(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.BatchLimits{MaxInputs: 2})
	repeat(m, 2)
	m.must(m.keep(m.start()))
	first := m.state.inputs[0].position
	m.must(Reobserve{ID: m.id(), At: m.now, Inputs: []events.Position{first}})
	if w := m.plan().Turn; w == nil || !cmp.Equal(w.Settles, []events.Position{first}) {
		t.Errorf("%+v is due, want a turn over %d", w, first)
	}
}

// TestAskedAgainOfWhatIsForgotten: what was forgotten is not among what is asked for again, and alone it is nothing.
func TestAskedAgainOfWhatIsForgotten(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.BatchLimits{MaxInputs: 2})
	repeat(m, 2)
	m.must(m.keep(m.start()))
	gone, left := m.state.inputs[0].position, m.state.inputs[1].position
	m.forget(0)
	m.must(Reobserve{ID: m.id(), At: m.now, Inputs: []events.Position{gone, left}})
	if e, _ := lastOf[events.ReobserveRequested](m); !cmp.Equal(e.Inputs, []events.Position{left}) {
		t.Errorf("asked for %v, want %d alone", e.Inputs, left)
	}
	if err := m.do(Reobserve{ID: m.id(), At: m.now, Inputs: []events.Position{gone}}); err != ErrNoInputs {
		t.Errorf("of what is forgotten: got %v, want ErrNoInputs", err)
	}
}

// TestASummaryReadsWhatStands observes a stretch of work again, in other batches than before: its summary, and the brief of
// what comes after, are told nothing that was taken back.
func TestASummaryReadsWhatStands(t *testing.T) {
	t.Parallel()
	limits := policy.BatchLimits{MaxInputs: 2}
	m := newSim(t, limits)
	repeat(m, 4)
	m.stop()
	old := append(m.observe(2), m.observe(1)...)
	if got := m.plan().Turn; got.Kind != events.TurnSummary || !cmp.Equal(got.Offers, old) {
		t.Fatalf("the first summary: got %+v, want it offered %v", got, old)
	}
	m.must(m.skip(m.start(), events.ReasonSkipSummary))
	m.rules.Batch.MaxInputs = 3
	var all []events.Position
	for _, in := range m.state.inputs {
		all = append(all, in.position)
	}
	m.must(Reobserve{ID: m.id(), At: m.now, Inputs: all})
	m.must(m.drop(m.start(), events.ReasonNoXML))
	if got := m.plan().Turn.Brief; !cmp.Equal(got, old) {
		t.Errorf("after a drop: got %v in the brief, want what stands: %v", got, old)
	}
	half := append(old, m.observe(1)...) // of the fourth input: what was said from the third on still stands
	if got := m.plan().Turn; got.Kind != events.TurnSummary || !cmp.Equal(got.Offers, half) {
		t.Errorf("after a part of it: got %+v, want it offered %v", got, half)
	}
	m.must(Reobserve{ID: m.id(), At: m.now, Inputs: all})
	fresh := append(m.observe(2), m.observe(1)...)
	if got := m.plan().Turn; got.Kind != events.TurnSummary || !cmp.Equal(got.Offers, fresh) || !cmp.Equal(got.Brief, fresh) {
		t.Errorf("after all of it: got %+v, want it offered %v alone", got, fresh)
	}
}

// TestWhatAPersonAskedOneProviderForIsAskedOfNoOther: and of none before what nobody was named for.
func TestWhatAPersonAskedOneProviderForIsAskedOfNoOther(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.BatchLimits{MaxInputs: 20})
	repeat(m, 5)
	m.stop()
	m.observe(1)
	m.must(m.skip(m.start(), events.ReasonSkipSummary))
	at := func(is ...int) (ps []events.Position) { return m.state.positions(is) }
	m.must(Reobserve{ID: m.id(), At: m.now, Inputs: at(0, 1), Provider: "careful"})
	m.must(Reobserve{ID: m.id(), At: m.now, Inputs: at(2)})
	m.must(Reobserve{ID: m.id(), At: m.now, Inputs: at(3, 4), Provider: "quick"})
	for _, want := range []struct {
		provider string
		settles  []events.Position
	}{{"", at(2)}, {"careful", at(0, 1)}, {"quick", at(3, 4)}} {
		if got := m.plan().Turn; got == nil || got.Provider != want.provider || !cmp.Equal(got.Settles, want.settles) {
			t.Fatalf("got %+v, want %v asked of %s", got, want.settles, want.provider)
		}
		m.observe(1)
	}
	m.must(Reobserve{ID: m.id(), At: m.now, Inputs: at(0, 3)})
	if got := m.plan().Turn; got == nil || got.Provider != "" || len(got.Settles) != 2 {
		t.Errorf("got %+v, want the last limits to count: nobody is named", got)
	}
}

// TestAWishKeepsNoNewWorkWaiting: whom a person named may rest for long. New work is observed and summed up meanwhile, and
// only the summary of what is asked again waits for it.
func TestAWishKeepsNoNewWorkWaiting(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.BatchLimits{MaxInputs: 20})
	repeat(m, 2)
	m.stop()
	m.observe(1)
	old := m.state.positions([]int{0, 1, 2})
	m.must(Reobserve{ID: m.id(), At: m.now, Inputs: old[:2], Provider: "resting"})
	m.must(Reobserve{ID: m.id(), At: m.now, Inputs: old[2:]})
	repeat(m, 2)
	m.stop()
	next := func(kind events.TurnKind, provider string, settles ...int) {
		t.Helper()
		w := m.plan().Turn
		if w == nil || w.Kind != kind || w.Provider != provider || !cmp.Equal(w.Settles, m.state.positions(settles)) {
			t.Fatalf("got %+v, want a %s turn over %v asked of %q", w, kind, settles, provider)
		}
	}
	next(events.TurnObservation, "", 3, 4)
	m.observe(1)
	next(events.TurnSummary, "", 5)
	m.must(m.skip(m.start(), events.ReasonSkipSummary))
	next(events.TurnObservation, "resting", 0, 1)
	m.tool("new")
	m.stop()
	next(events.TurnObservation, "", 6)
	m.observe(1)
	next(events.TurnSummary, "", 7)
	m.must(m.skip(m.start(), events.ReasonSkipSummary))
	next(events.TurnObservation, "resting", 0, 1)
	m.observe(1)
	next(events.TurnSummary, "", 2)
}
