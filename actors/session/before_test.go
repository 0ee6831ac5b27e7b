package session

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// TestBeforeIsWhatWasReadOut: the last so many tool uses that an output came for and did not lose.
func TestBeforeIsWhatWasReadOut(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.BatchLimits{MaxInputs: 1})
	for n := range 6 {
		m.tool("Read")
		switch turn := m.start(); n {
		case 1:
			m.must(m.drop(turn, events.ReasonNoXML))
		case 3:
			m.must(m.skip(turn, events.ReasonSkipSummary))
		default:
			m.must(m.keep(turn))
		}
	}
	m.tool("Read")
	in := m.state.inputs
	m.forget(2)
	of := func(is ...int) (want []Sized) {
		for _, i := range is {
			want = append(want, Sized{in[i].position, in[i].size})
		}
		return want
	}
	for _, c := range []struct {
		before events.Position
		n      int
		want   []Sized
	}{
		{in[6].position, 100, of(0, 3, 4, 5)},
		{in[6].position, 2, of(4, 5)},
		{in[4].position, 100, of(0, 3)},
		{in[0].position, 100, nil},
	} {
		if d := cmp.Diff(c.want, m.state.Before(c.before, c.n)); d != "" {
			t.Errorf("the last %d before %d (-want +got):\n%s", c.n, c.before, d)
		}
	}
}

// TestWhatWorkIsToldOf: an observation leads to its first and last input, and an input that is asked about again to what followed it.
func TestWhatWorkIsToldOf(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.BatchLimits{MaxInputs: 2})
	for range 4 {
		m.tool("Edit")
		m.tool("Edit")
		a := m.keep(m.start())
		a.Undone = &events.WorkUndone{Turn: a.Received.Turn, Rows: []events.Undone{{Observation: m.id(), By: 1, How: events.UndoneDeleted}}}
		m.must(a)
	}
	in := m.state.inputs
	told := m.state.ObservationsSince(in[4].position)
	if len(told) != 2 || told[0].First != in[4].position || told[0].Last != in[5].position || told[1].Last != in[7].position || told[1].At == 0 {
		t.Errorf("got %+v", told)
	}
	if d := cmp.Diff([]events.Position{in[4].position, in[5].position, in[6].position}, m.state.Since(in[3].position, 3)); d != "" {
		t.Errorf("behind it (-want +got):\n%s", d)
	}
	at := told[0].At
	m.tool("Edit")
	m.tool("Edit")
	a := m.keep(m.start())
	a.Undone = &events.WorkUndone{Rows: []events.Undone{{Observation: m.id(), At: at, By: 1, How: events.UndoneDeleted}}}
	m.must(a)
	if told := m.state.ObservationsSince(in[4].position); len(told) != 2 || told[0].At == at {
		t.Errorf("what was undone is told of: %+v", told)
	}
	if m.state.Owes() || m.state.Balance().Observed != 10 {
		t.Errorf("the balance is %+v", m.state.Balance())
	}
}
