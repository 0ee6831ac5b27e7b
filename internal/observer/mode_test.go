package observer

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
)

func TestCodeModeIsComplete(t *testing.T) {
	t.Parallel()
	m := CodeMode()
	wantTypes := Types{ // as they are on disk
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
}

func TestCodeModeIsTheCallersOwn(t *testing.T) {
	t.Parallel()
	m := CodeMode()
	m.Types[0].ID, m.Examples[0].Observations[0].Facts[0] = "spoiled", "spoiled"
	again := CodeMode()
	if got := again.Types[0].ID; got != TypeBugfix || again.Examples[0].Observations[0].Facts[0] == "spoiled" {
		t.Errorf("a caller's change reached another one: first type is %q", got)
	}
}

// builtinModes are the modes that come with the program.
func builtinModes(t *testing.T) []Mode {
	t.Helper()
	names, err := Modes(nil)
	if err != nil || !slices.Equal(names, []string{"code", "research", "writing"}) {
		t.Fatalf("built-in modes: %q, %v", names, err)
	}
	var modes []Mode
	for _, name := range names {
		m, err := LoadMode(nil, name)
		if err != nil {
			t.Fatal(err)
		}
		modes = append(modes, m)
	}
	return modes
}

// Every word of a mode survives the grammar, and a type is not kept as a concept too.
func TestModesAreUnderstoodByParse(t *testing.T) {
	t.Parallel()
	for _, m := range builtinModes(t) {
		for _, typ := range m.TypeIDs() {
			o := Observation{Type: typ, Title: "x", Concepts: append(m.ConceptIDs(), typ)}
			p := Parse(string(o.AppendXML(nil)), events.TurnObservation, m.TypeIDs())
			if len(p.Observations) != 1 {
				t.Fatalf("%s, type %s: got %d observations, want 1", m.ID, typ, len(p.Observations))
			}
			if got := p.Observations[0]; got.Type != typ || got.TypeGiven != "" {
				t.Errorf("%s, type %s: got %q, given %q", m.ID, typ, got.Type, got.TypeGiven)
			}
			want := slices.DeleteFunc(m.ConceptIDs(), func(c string) bool { return c == typ })
			if diff := cmp.Diff(want, p.Observations[0].Concepts); diff != "" {
				t.Errorf("%s, type %s: concepts (-want +got):\n%s", m.ID, typ, diff)
			}
		}
	}
}

// The examples of a mode are what Parse takes, nothing cut, nothing unknown: a model that follows them is understood.
func TestModeExamplesParse(t *testing.T) {
	t.Parallel()
	for _, m := range builtinModes(t) {
		var observed, summed, skipped int
		for _, e := range m.Examples {
			switch {
			case e.Skip != "":
				skipped++
				p := Parse(strings.Replace(SkipForm, "...", e.Skip, 1), events.TurnObservation, m.TypeIDs())
				if p.Disposition != DispositionSkip || p.SkipReason.RawText() != e.Skip {
					t.Errorf("%s: the skip %q is %s with reason %q", m.ID, e.Skip, p.Disposition, p.SkipReason)
				}
			case e.Summary != nil:
				summed++
				p := Parse(string(e.Summary.AppendXML(nil)), events.TurnSummary, m.TypeIDs())
				if diff := cmp.Diff(e.Summary, p.Summary); diff != "" || p.Clipped > 0 {
					t.Errorf("%s: summary (-want +got), clipped %d:\n%s", m.ID, p.Clipped, diff)
				}
			}
			for _, o := range e.Observations {
				observed++
				p := Parse(string(o.AppendXML(nil)), events.TurnObservation, m.TypeIDs())
				if diff := cmp.Diff([]Observation{o}, p.Observations); diff != "" {
					t.Errorf("%s: observation (-want +got):\n%s", m.ID, diff)
				}
				if o.Type == UnknownType || len(o.Concepts) == 0 || !subset(o.Concepts, m.ConceptIDs()) {
					t.Errorf("%s: type %q, concepts %q are not all the mode's", m.ID, o.Type, o.Concepts)
				}
			}
		}
		if observed == 0 || summed == 0 || skipped == 0 {
			t.Errorf("%s: %d examples of observations, %d of a summary, %d of a skip: want one of each", m.ID, observed, summed, skipped)
		}
	}
}

func subset(some, all []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

func BenchmarkCodeMode(b *testing.B) {
	for b.Loop() {
		_ = CodeMode()
	}
}
