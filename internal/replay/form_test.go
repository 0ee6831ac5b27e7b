package replay

import (
	"testing"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
)

// TestStructuredOutputsAreReadAsSuch: an output on record is parsed again in the form it was given in, and a proof does so
// too.
func TestStructuredOutputsAreReadAsSuch(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.work("a", 1)
	s.stop("a")
	s.mustStart("a")
	turn := s.turns["a"].Turn
	const output = `{"observations":[{"title":"kept","facts":[],"concepts":[]}]}`
	s.must("a", session.Answer{
		ID: s.id(), At: s.now, Received: events.TurnReceived{Turn: turn, Form: events.FormStructured, Output: events.NewOutput(output)},
		Observations: []events.ObservationParsed{{Turn: turn, Type: events.TypeUnknown, Title: "kept"}},
	})
	s.over("a")
	got := s.reparse(Selection{})
	if got.Outputs != 1 || got.Same != 1 {
		t.Errorf("got %d outputs, %d the same; want 1 and 1: %+v", got.Outputs, got.Same, got.Differ)
	}
	if p := prove(t, s.log, Selection{}); !p.Holds() {
		t.Errorf("proof: %+v", p.Differences)
	}
	recorded := s.record(Wanted{}).Scenario
	if n := len(recorded.Events); n != 1 || recorded.Events[0].Form != events.FormStructured {
		t.Fatalf("as a scenario: got %+v", recorded.Events)
	}
	played, err := Compare(recorded, policy.Names(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range played {
		if r.Observations != 1 || r.DroppedTurns != 0 {
			t.Errorf("replayed under %s: got %+v, want one observation", name, r)
		}
	}
}
