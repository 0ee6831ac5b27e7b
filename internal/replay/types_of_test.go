package replay

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// TestTypesAreThoseOfTheLife reads the same type in lives of several modes and of several providers.
func TestTypesAreThoseOfTheLife(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	sessions := 0
	turn := func(provider string) {
		sessions++
		name := fmt.Sprint(sessions)
		s.provider = provider
		s.work(name, 1)
		s.stop(name)
		s.mustStart(name)
		s.recordAs(name, "<observation><type>motif</type><title>t</title></observation>", func(turn events.ID, a *session.Answer) {
			a.Observations = []events.ObservationParsed{{Turn: turn, Type: "motif", Title: "t"}}
		})
	}
	turn("before any life")
	s.begin(map[string]string{"mode": "writing"})
	turn("model")
	turn("model")
	turn("rules")
	s.end(true, map[string]string{"mode": "code"})
	turn("model")

	type question struct{ Mode, Provider string }
	var asked []question
	types := func(settings map[string]string, provider string) observer.Types {
		asked = append(asked, question{settings["mode"], provider})
		if settings["mode"] == "writing" && provider == "model" {
			return observer.Types{"motif"}
		}
		return nil
	}
	r, err := Reparse(s.log.All(t.Context(), 1), Selection{}, types)
	if err != nil || r.Outputs != 5 || r.Same != 2 {
		t.Fatalf("got %d the same of %d, %v; want the two of the life and provider that had the type", r.Same, r.Outputs, err)
	}
	want := []question{{"", "before any life"}, {"writing", "model"}, {"writing", "rules"}, {"code", "model"}}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("asked -want +got\n%s", diff)
	}
	asked = nil
	if _, err := Prove(s.log.All(t.Context(), 1), Selection{}, types); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("asked by the proof -want +got\n%s", diff)
	}
}
