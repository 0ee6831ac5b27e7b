package observer

import (
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
)

func TestCodeModeIsComplete(t *testing.T) {
	t.Parallel()
	m := CodeMode()
	wantTypes := Types{
		"bugfix", "feature", "refactor", "change", "discovery", "decision", "security_alert", "security_note", "sensitive",
	}
	if diff := cmp.Diff(wantTypes, m.TypeIDs()); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
	wantConcepts := []string{
		"how-it-works", "why-it-exists", "what-changed", "problem-solution", "gotcha", "pattern", "trade-off",
	}
	if diff := cmp.Diff(wantConcepts, m.ConceptIDs()); diff != "" {
		t.Errorf("concepts (-want +got):\n%s", diff)
	}
	id := regexp.MustCompile(`^[a-z]+([-_][a-z]+)*$`)
	for _, term := range append(slices.Clone(m.Types), m.Concepts...) {
		if !id.MatchString(term.ID) || term.Label == "" || term.Description == "" {
			t.Errorf("incomplete or ill-named term: %+v", term)
		}
	}
}

func TestCodeModeIsTheCallersOwn(t *testing.T) {
	t.Parallel()
	m := CodeMode()
	m.Types[0].ID = "spoiled"
	if got := CodeMode().Types[0].ID; got != TypeBugfix {
		t.Errorf("a caller's change reached another one: first type is %q", got)
	}
}

// Every word of the mode survives the grammar, and a type is not kept as a concept too.
func TestCodeModeIsUnderstoodByParse(t *testing.T) {
	t.Parallel()
	m := CodeMode()
	for _, typ := range m.TypeIDs() {
		o := Observation{Type: typ, Title: "x", Concepts: append(m.ConceptIDs(), typ)}
		p := Parse(string(o.AppendXML(nil)), events.TurnObservation, m.TypeIDs())
		if len(p.Observations) != 1 {
			t.Fatalf("type %s: got %d observations, want 1", typ, len(p.Observations))
		}
		if got := p.Observations[0]; got.Type != typ || got.TypeGiven != "" {
			t.Errorf("type %s: got %q, given %q", typ, got.Type, got.TypeGiven)
		}
		if diff := cmp.Diff(m.ConceptIDs(), p.Observations[0].Concepts); diff != "" {
			t.Errorf("type %s: concepts (-want +got):\n%s", typ, diff)
		}
	}
}
