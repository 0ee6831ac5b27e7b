package recall

import (
	"strings"
	"testing"

	"github.com/cmemd/cmemd/events"
)

// What was undone after the last summary is not given as done, whether or not a summary followed; the rest of the summary stays.
func TestASummaryWithoutWhatWasUndoneSince(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	const undone, learned = "The wagons are sorted by weight because their names are not unique", "The brake needs 40 volts or it slips"
	by := w.put(s.Stream(), events.ToolUsed{Tool: "Bash"})[0].Position
	gone, cause := w.observe(s, "change", undone+".", undone+". It took one change."), w.observe(s, "discovery", learned, "")
	w.put(s.Stream(), events.SummaryParsed{
		Summary: newID(), Prompt: 1, Request: "Sort the wagons", Learned: learned + ".\n\nWhat else: " + undone + ".",
		Completed: "- " + undone + ": wagon.go\n- The rails are oiled twice a day — rail.go", NextSteps: "- Paint the wagons",
	})
	if got := w.mustContext(shop("startup", events.SessionID{})); !strings.Contains(got.Text, "Done: "+undone) {
		t.Fatalf("before anything is undone\n%s", got.Text)
	}
	w.put(s.Stream(), events.WorkUndone{Turn: newID(), Rows: []events.Undone{{Observation: gone, By: by, How: events.UndoneRestored}}})
	got := w.mustContext(shop("startup", events.SessionID{}))
	for _, want := range []string{learned, "The rails are oiled twice a day", "Paint the wagons", "The session went on after this was written"} {
		if !strings.Contains(got.Text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(got.Text, "sorted by weight") {
		t.Error("what was undone is given")
	}
	w.put(s.Stream(), events.WorkUndone{Turn: newID(), Rows: []events.Undone{{Observation: cause, By: by, How: events.UndoneRestored}}},
		events.SummaryParsed{Summary: newID(), Prompt: 1, Request: "Sort the wagons", Completed: "- It was tried whether " + strings.ToLower(learned) + ", and it does not"})
	if got := w.mustContext(shop("startup", events.SessionID{})); !strings.Contains(got.Text, "It was tried whether") || strings.Contains(got.Text, "went on after") {
		t.Errorf("a summary that was written afterwards says what it says\n%s", got.Text)
	}
}

// What was undone is no sentence of a summary at a prompt either; the sentences beside it stay, and so does what shares a word or two.
func TestASummaryAtAPromptWithoutWhatWasUndone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old, mine := w.open("a", "shop"), w.open("b", "shop")
	const undone = "computeDiscount rounds vouchers once because the capacity of a cart is counted first"
	by := w.put(old.Stream(), events.ToolUsed{Tool: "Bash"})[0].Position
	gone, short := w.observe(old, "change", undone, undone+"."), w.observe(old, "bugfix", "fix: cart", "The cart is fixed.")
	w.put(old.Stream(), events.SummaryParsed{
		Summary: newID(), Prompt: 1, Request: "Why does computeDiscount round vouchers of a cart twice?",
		Completed: undone + ". Cartesian products of vouchers are computed once. The capacity of a cart stays.",
	})
	ask := prompted(mine, "why does computeDiscount round vouchers by the capacity of a cart?")
	if got := w.mustContext(ask); !strings.Contains(got.Text, "counted first") {
		t.Fatalf("before anything is undone\n%s", got.Text)
	}
	w.put(old.Stream(), events.WorkUndone{Turn: newID(), Rows: []events.Undone{
		{Observation: gone, By: by, How: events.UndoneRestored}, {Observation: short, By: by, How: events.UndoneRestored},
	}})
	got := w.mustContext(ask)
	if strings.Contains(got.Text, "counted first") || !strings.Contains(got.Text, "Cartesian products") || !strings.Contains(got.Text, "a cart stays") {
		t.Errorf("after it was undone\n%s", got.Text)
	}
}
