package actors

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
)

// TestCandidates: whom a turn may be asked of, by what is wanted.
func TestCandidates(t *testing.T) {
	t.Parallel()
	c := Config{
		Providers: []Offer{{Provider: named("a", "")}, {Provider: named("b", "")}, {Provider: named("c", "")}},
		Summaries: &Offer{Provider: named("tier", "")},
	}
	for name, want := range map[string]struct {
		need  need
		names []string
	}{
		"an observation":       {need{kind: events.TurnObservation}, []string{"a", "b", "c"}},
		"a summary":            {need{kind: events.TurnSummary}, []string{"tier", "a", "b", "c"}},
		"a fresh observation":  {need{kind: events.TurnObservation, fresh: true}, []string{"b", "c", "a"}},
		"a fresh summary":      {need{kind: events.TurnSummary, fresh: true}, []string{"b", "c", "a"}},
		"a first probe":        {need{kind: events.TurnObservation, probe: true, trip: 1}, []string{"b", "c", "a"}},
		"a second probe":       {need{kind: events.TurnSummary, probe: true, trip: 2}, []string{"c", "a", "b"}},
		"a third probe":        {need{kind: events.TurnSummary, probe: true, trip: 3}, []string{"a", "b", "c"}},
		"a person's wish":      {need{kind: events.TurnSummary, fresh: true, provider: "tier"}, []string{"tier"}},
		"a wish for who left":  {need{kind: events.TurnSummary, provider: "gone"}, []string{"tier", "a", "b", "c"}},
		"a wish for one there": {need{kind: events.TurnObservation, provider: "c"}, []string{"c"}},
	} {
		var got []string
		for _, o := range c.candidates(want.need) {
			got = append(got, o.Name())
		}
		if d := cmp.Diff(want.names, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
