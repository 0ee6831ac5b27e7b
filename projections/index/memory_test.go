package index

import (
	"fmt"
	"testing"

	"github.com/cmemd/cmemd/testkit/race"
)

// Of the documents that a search finds only those that it answers with take memory: the rest is used again by the next search.
func TestSearchUsesItsMemoryAgain(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector has pools forget")
	}
	w := newWriter(t)
	s := w.open("codex", "a", "shop")
	for i := range 1500 {
		w.observe(s, fmt.Sprint("alpha ", i), fmt.Sprint("beta of number ", i))
	}
	x := w.mustOpen(t.TempDir())
	defer x.Close()
	search := func(text string) func() {
		return func() {
			if res, err := x.Search(t.Context(), Query{Text: text, Limit: 1}); err != nil || len(res.Hits) != 1 {
				t.Fatal(res, err)
			}
		}
	}
	few, many := testing.AllocsPerRun(50, search("1000 1001")), testing.AllocsPerRun(50, search("alpha beta"))
	if many > few+20 {
		t.Errorf("%v allocations where all documents match, %v where hardly any does", many, few)
	}
}
