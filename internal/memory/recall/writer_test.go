package recall

import (
	"cmp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
)

// TestContextSaysWhoSaved: what an agent saved says so, and stands behind what the person saved, however new it is; what was saved before
// writers were on record says that too. Searches say it for all.
func TestContextSaysWhoSaved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, by := range []events.Writer{events.WriterPerson, "", events.WriterAgent} { // the agent's is the newest
		w.put(events.Daemon, events.MemorySaved{
			Memory: newID(), Project: "shop", ProjectRoot: "/src/shop", Type: "decision", Title: "Zebra rules of " + cmp.Or(string(by), "nobody"), Writer: by,
		})
	}
	w.sync()
	var told []string
	for line := range strings.Lines(w.mustContext(shop("startup", events.SessionID{})).Text) {
		if _, said, ok := strings.Cut(line, ", 2026 "); ok && strings.Contains(said, "Zebra") {
			told = append(told, strings.TrimSpace(said))
		}
	}
	want := []string{"decision: Zebra rules of person", "decision by an agent: Zebra rules of agent", "decision by an unknown writer: Zebra rules of nobody"}
	if diff := gocmp.Diff(want, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	writers := map[events.Writer]int{}
	for _, it := range w.mustSearch(Query{Text: "zebra"}).Results {
		writers[it.Writer]++
	}
	if diff := gocmp.Diff(map[events.Writer]int{events.WriterPerson: 1, events.WriterUnknown: 1, events.WriterAgent: 1}, writers); diff != "" {
		t.Errorf("writers (-want +got):\n%s", diff)
	}
}
