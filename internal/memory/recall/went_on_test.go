package recall

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
)

// A summary after which its session went on says so, and what it asked is answered. Nothing else changes: what came later has the weight
// of its kind.
func TestASessionThatWentOnAfterItsSummary(t *testing.T) {
	t.Parallel()
	const notice, asking = "The session went on after this was written", "Asked the person: Shall the wagons run in the rain?"
	for name, c := range map[string]struct {
		later func(w *world, s events.SessionID)
		says  bool // that it was written before
		waits bool // the question does
		tells string
	}{
		"it ended there": {func(*world, events.SessionID) {}, false, true, "Oil the axles"},
		"an answer in words": {func(w *world, s events.SessionID) {
			w.put(s.Stream(), events.ObservationParsed{Observation: newID(), Prompt: 2, Type: "discovery", Title: "The axles were oiled by the night watch"})
		}, true, false, "The axles were oiled by the night watch"},
		"its question was answered, and many prompts of others came": {func(w *world, s events.SessionID) {
			w.put(s.Stream(), events.PromptSubmitted{Number: 2, Text: "No, never in the rain"},
				events.ObservationParsed{Observation: newID(), Prompt: 2, Type: "change", Title: "Wagons stop when it rains"})
			other := w.open("other", "shop")
			for i := range 2 * newestPrompts {
				w.put(other.Stream(), events.PromptSubmitted{Number: i + 1, Text: "Paint the fence of the yard"})
			}
		}, true, false, "Wagons stop when it rains"},
		"work of another session": {func(w *world, _ events.SessionID) {
			w.observe(w.open("other", "shop"), "change", "The shed is locked", "")
		}, false, true, "The shed is locked"},
		"what may not be injected": {func(w *world, s events.SessionID) {
			w.put(s.Stream(), events.ObservationParsed{Observation: newID(), Prompt: 2, Type: "decision", Title: "Wagons never stop", Origin: events.OriginOutside})
		}, false, true, "Oil the axles"},
		"the same work observed again": {func(w *world, s events.SessionID) {
			w.now = w.now.Add(-10 * time.Minute) // rows are dated by the work
			w.observe(s, "change", "Wagons are slower, in other words", "")
		}, false, true, "Wagons are slower, in other words"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := w.open("a", "shop")
			for range 60 {
				w.observe(s, "discovery", "Bolt "+newID().String()+" of the carousel holds", strings.Repeat("It was looked at twice. ", 12))
			}
			w.put(s.Stream(), events.PromptSubmitted{Number: 1, Text: "Make the wagons slower"},
				events.SummaryParsed{Summary: newID(), Prompt: 1, Request: "Make the wagons slower", NextSteps: "- " + asking + "\n- Oil the axles"})
			c.later(w, s)
			ask := shop("startup", events.SessionID{})
			ask.Characters = 1500
			got := w.mustContext(ask)
			if strings.Contains(got.Text, notice) != c.says || strings.Contains(got.Text, asking) != c.waits {
				t.Errorf("says that it was written before: want %t; its question waits: want %t\n%s", c.says, c.waits, got.Text)
			}
			ask.Explain = true
			if explained := w.mustContext(ask); explained.Text != got.Text {
				t.Errorf("explained it is another text:\n%s", explained.Text)
			}
			w.put(s.Stream(), events.ContextInjected{Hook: "startup", IDs: got.IDs, Position: events.Moment(got.Position)})
			w.sync()
			known, err := w.InjectedLines(t.Context(), s)
			if err != nil || c.says && !slices.ContainsFunc(known, func(l string) bool { return strings.Contains(l, notice) }) {
				t.Errorf("the line that says so is not known to be ours: %v", err)
			}
			if !strings.Contains(got.Text, c.tells) || !strings.Contains(got.Text, "Oil the axles") {
				t.Errorf("want %q, and what was open in the summary:\n%s", c.tells, got.Text)
			}
		})
	}
}

// TestSaidOfTheLastSession: a context leaves out the addresses of links, and what its last session learned of which anything stands below.
func TestSaidOfTheLastSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	const begins, more = "The axle_1.go of the wagon is dry because nobody oils it.", "Wheel after wheel squeaks from March to May."
	const before, behind = "A new wagon would be cheaper by far.", "The doors of the old wagon_2.go must stay shut."
	w.observe(s, "discovery", "The axle is dry", begins+" See [the manual](https://shop.example/axles) of the wagon for the oil that it takes.\n\n"+behind)
	w.put(s.Stream(), events.PromptSubmitted{Number: 1, Text: "Look at the wagon"}, events.SummaryParsed{
		Summary: newID(), Prompt: 1, Request: "Look at the wagon",
		Learned: begins + " " + more + "\n\nThe brakes of the wagon hold now.\n\n" + before + " " + behind,
	})
	got := w.mustContext(shop("startup", events.SessionID{})).Text
	for text, want := range map[string]bool{
		"See the manual of the wagon": true, "shop.example": false, "hold now": true, more: false, before: false, behind: true,
	} {
		if strings.Contains(got, text) != want {
			t.Errorf("%q is given: %t, want %t:\n%s", text, !want, want, got)
		}
	}
}
