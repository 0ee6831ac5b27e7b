package provider

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
)

// TestCandidates: whom a turn may be asked of, by what is wanted.
func TestCandidates(t *testing.T) {
	t.Parallel()
	routes := Routes{
		Providers: []Candidate{{Provider: "a"}, {Index: 1, Provider: "b"}, {Index: 2, Provider: "c"}},
		Summaries: &Candidate{Index: 3, Provider: "tier"},
	}
	for name, want := range map[string]struct {
		need  Requirement
		names []string
	}{
		"an observation":       {Requirement{Kind: events.TurnObservation}, []string{"a", "b", "c"}},
		"a summary":            {Requirement{Kind: events.TurnSummary}, []string{"tier", "a", "b", "c"}},
		"a fresh observation":  {Requirement{Kind: events.TurnObservation, Fresh: true}, []string{"b", "c", "a"}},
		"a fresh summary":      {Requirement{Kind: events.TurnSummary, Fresh: true}, []string{"b", "c", "a"}},
		"a first probe":        {Requirement{Kind: events.TurnObservation, Probe: true, Trip: 1}, []string{"b", "c", "a"}},
		"a second probe":       {Requirement{Kind: events.TurnSummary, Probe: true, Trip: 2}, []string{"c", "a", "b"}},
		"a third probe":        {Requirement{Kind: events.TurnSummary, Probe: true, Trip: 3}, []string{"a", "b", "c"}},
		"a person's wish":      {Requirement{Kind: events.TurnSummary, Fresh: true, Provider: "tier"}, []string{"tier"}},
		"a wish for who left":  {Requirement{Kind: events.TurnSummary, Provider: "gone"}, []string{"tier", "a", "b", "c"}},
		"a wish for one there": {Requirement{Kind: events.TurnObservation, Provider: "c"}, []string{"c"}},
	} {
		var got []string
		for _, o := range routes.Candidates(want.need) {
			got = append(got, o.Provider)
		}
		if d := cmp.Diff(want.names, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
