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
