package recall

import (
	"slices"
	"testing"

	"github.com/cmemd/cmemd/events"
)

// What a session found to be so is left out of a context once its later work speaks of all that it names.
func TestWhatIsNamedAgainLaterIsLeftOut(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		kind, title, narrative string
		prompt                 int
		other                  bool // the later work is another session's
		outside                bool // others' words were read for it
		want                   bool
	}{
		"a state":                   {kind: "discovery", title: "Orders are weighed by AxleSum", prompt: 1},
		"of the same prompt":        {kind: "discovery", title: "Orders are weighed by AxleSum", prompt: 2, want: true},
		"of no prompt":              {kind: "discovery", title: "Orders are weighed by AxleSum", want: true},
		"of another session":        {kind: "discovery", title: "Orders are weighed by AxleSum", prompt: 1, other: true, want: true},
		"of others' words":          {kind: "discovery", title: "Orders are weighed by AxleSum", prompt: 1, outside: true, want: true},
		"that names more":           {kind: "discovery", title: "Orders are weighed by AxleSum in scales_list.go", prompt: 1, want: true},
		"that names nothing":        {kind: "discovery", title: "Orders are weighed by their length", prompt: 1, want: true},
		"a cause":                   {kind: "discovery", title: "The scale jumps because AxleSum is signed", prompt: 1, want: true},
		"whose cut sentence is one": {kind: "discovery", title: "Orders are weighed by AxleSum…", narrative: "Orders are weighed by `AxleSum`, because the index has it.", prompt: 1, want: true},
		"what was done":             {kind: "change", title: "Orders are weighed by AxleSum", prompt: 1, want: true},
		"a decision":                {kind: "decision", title: "Orders are weighed by AxleSum", prompt: 1, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := w.open("a", "shop")
			found := newID()
			w.put(s.Stream(), events.ObservationParsed{Observation: found, Prompt: test.prompt, Type: test.kind, Title: test.title, Narrative: test.narrative})
			if test.other {
				s = w.open("b", "shop")
			}
			later := events.ObservationParsed{Observation: newID(), Prompt: 2, Type: "change", Title: "Orders come by what they carry", Narrative: "`AxleSum` is not read any more."}
			if test.outside {
				later.Origin = events.OriginOutside
			}
			w.put(s.Stream(), later)
			if got := w.mustContext(shop("startup", events.SessionID{})); slices.Contains(got.IDs, found) != test.want {
				t.Errorf("given: %v, want %v\n%s", !test.want, test.want, got.Text)
			}
		})
	}
}
