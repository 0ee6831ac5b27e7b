package recall

import (
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
