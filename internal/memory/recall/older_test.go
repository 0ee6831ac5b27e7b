package recall

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/events"
)

// TestOlderSummaries: a summary that is not the newest is given only where no observation of its session may be: these say it.
func TestOlderSummaries(t *testing.T) {
	t.Parallel()
	for _, observed := range []bool{true, false} {
		w := newWorld(t)
		older, newer := w.open("a", "shop"), w.open("b", "shop")
		if observed {
			w.observe(older, "discovery", "The axles of the wagons are dry", "")
		}
		w.put(older.Stream(), events.PromptSubmitted{Number: 2, Text: "And the brakes?"},
			events.SummaryParsed{Summary: newID(), Prompt: 2, Request: "Look at the brakes of the wagons", Completed: "The brakes of the wagons were oiled"})
		w.put(newer.Stream(), events.PromptSubmitted{Number: 1, Text: "Paint the fence of the yard"},
			events.SummaryParsed{Summary: newID(), Prompt: 1, Request: "Paint the fence of the yard", Completed: "The fence of the yard is green"})
		got := w.mustContext(shop("startup", events.SessionID{}))
		if strings.Contains(got.Text, "The brakes of the wagons were oiled") == observed {
			t.Errorf("observed: %t\n%s", observed, got.Text)
		}
	}
}

// TestEndOfWhatWasLearned: the newest summary is given with what its session ended with, which is last of what was learned.
func TestEndOfWhatWasLearned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	var parts []string
	for i := range 4 {
		parts = append(parts, fmt.Sprintf("The wheel_%d.go of the wagon squeaks on every turn since its axle was never oiled, and nobody has looked into that since the shop moved to the harbour in spring, where all is salt and wet.", i))
	}
	const end = "The brakes of the wagon hold now."
	w.put(s.Stream(), events.PromptSubmitted{Number: 1, Text: "Look at the wagon"},
		events.SummaryParsed{Summary: newID(), Prompt: 1, Request: "Look at the wagon", Learned: strings.Join(append(parts, end), "\n\n")})
	if got := w.mustContext(shop("startup", events.SessionID{})); !strings.Contains(got.Text, end) {
		t.Errorf("%q is not given:\n%s", end, got.Text)
	}
}

// TestSaidOfTheLastSession: a context leaves out the addresses of links, and what its last session learned of which the beginning stands
// below.
func TestSaidOfTheLastSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	const begins, more = "The axle_1.go of the wagon is dry because nobody oils it.", "Wheel after wheel squeaks from March to May."
	w.observe(s, "discovery", "The axle is dry", begins+" See [the manual](https://shop.example/axles) of the wagon for the oil that it takes.")
	w.put(s.Stream(), events.PromptSubmitted{Number: 1, Text: "Look at the wagon"},
		events.SummaryParsed{Summary: newID(), Prompt: 1, Request: "Look at the wagon", Learned: begins + " " + more + "\n\nThe brakes of the wagon hold now."})
	got := w.mustContext(shop("startup", events.SessionID{})).Text
	for text, want := range map[string]bool{"See the manual of the wagon": true, "shop.example": false, "hold now": true, more: false} {
		if strings.Contains(got, text) != want {
			t.Errorf("%q is given: %t, want %t:\n%s", text, !want, want, got)
		}
	}
}
