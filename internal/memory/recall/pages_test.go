package recall

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/index"
	"github.com/cmemd/cmemd/projections/vectors"
)

// mixedRows are rows that two words find: short ones, long ones in which both stand together, prompts, ones that say the
// same, ones that were superseded; and rows that neither word finds.
func (w *world) mixedRows(n int) (all []events.ID) {
	rng := rand.New(rand.NewPCG(7, 11))
	s, fix := w.open("a", "shop"), newID()
	w.put(events.Daemon, events.MemorySaved{Memory: fix, Project: "shop", Text: "the motor turns"})
	filler := func(n int) string {
		words := make([]string, n)
		for i := range words {
			words[i] = fmt.Sprintf("w%d", rng.IntN(900))
		}
		return strings.Join(words, " ")
	}
	for i := range n {
		id := newID()
		switch {
		case i%9 == 0:
			id = w.observe(s, "change", fmt.Sprintf("Thing %d", i), "red carousel "+filler(10+20*rng.IntN(7)))
		case i%9 == 1:
			id = w.put(s.Stream(), events.PromptSubmitted{Number: i, Text: "red is the carousel " + filler(rng.IntN(5))})[0].ID
		case i%9 == 2:
			id = w.observe(w.open(fmt.Sprint(i), "shop"), "bugfix", "Carousel stopped", fmt.Sprintf("It was the motor, which was too warm and too red, and not the belt, as we said before w%d", i%2))
		case i%9 == 3:
			w.put(events.Daemon, events.MemorySaved{Memory: id, Text: "red carousel " + filler(3)}, events.MemorySuperseded{Memory: id, By: fix})
		case i%9 == 4:
			id = w.observe(s, "change", "Slideshow "+filler(4), filler(rng.IntN(30)))
		default:
			id = w.observe(s, "change", fmt.Sprintf("Carousel %d spins", i), filler(rng.IntN(40))+" red")
		}
		all = append(all, id)
	}
	w.sync()
	return all
}

// walk reads all pages of a query.
func (w *world) walk(t interface{ Fatalf(string, ...any) }, q Query) (all []Item) {
	for {
		q.Offset = len(all)
		page, err := w.Search(context.Background(), q)
		if err != nil {
			t.Fatalf("from %d: %v", len(all), err)
		}
		all = append(all, page.Results...)
		switch {
		case page.Total < len(all) || page.Total > len(all) && len(page.Results) < q.Limit:
			t.Fatalf("%d of %d rows after a page of %d", len(all), page.Total, len(page.Results))
		case page.Total == len(all):
			return all
		}
	}
}

// TestPagesAgree: pages of any size give every row once, in one order, the best first; a row that is not shown is counted by
// one that is. The totals say when there is no more.
func TestPagesAgree(t *testing.T) {
	t.Parallel()
	const rows = 450
	w := newWorld(t)
	all := w.mixedRows(rows)
	rng := rand.New(rand.NewPCG(1, 2))
	near := &nearStub{found: vectors.Found{Used: true}}
	for _, i := range rng.Perm(len(all))[:semanticRows] {
		near.found.Hits = append(near.found.Hits, vectors.Hit{ID: all[i], Score: 0.5})
	}
	w.Recall.cfg.Semantic = near
	queries := []Query{
		{Text: "red carousel"}, {Text: "red carousel", Near: true}, {Text: "red carousel", Sort: Newest}, {Text: "carousel"},
		{Text: "carousel motor", Near: true, Project: "shop"}, {Text: "nothing has it", Near: true}, {},
	}
	want := make([][]Item, len(queries))
	for i, q := range queries {
		q.Limit = MaxLimit
		want[i] = w.walk(t, q)
		once(t, q, want[i])
	}
	found := len(want[0])
	for _, it := range want[0] {
		found += len(it.Similar)
	}
	if found != rows*7/9 {
		t.Errorf("%d of %d rows with either word that stand", found, rows*7/9)
	}
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, len(queries)-1).Draw(t, "query")
		q := queries[i]
		q.Limit = rapid.IntRange(15, MaxLimit).Draw(t, "limit")
		if diff := cmp.Diff(idsOf(want[i]), idsOf(w.walk(t, q))); diff != "" {
			t.Fatalf("%+v: pages of %d and of %d differ:\n%s", q, q.Limit, MaxLimit, diff)
		}
	})
}

// once checks that no row comes twice, itself or among what others stand for, and that the best come first.
func once(t *testing.T, q Query, items []Item) {
	t.Helper()
	seen := map[events.ID]bool{}
	for i, it := range items {
		for _, id := range append([]events.ID{it.ID}, it.Similar...) {
			if seen[id] {
				t.Errorf("%+v: %s comes twice", q, id)
			}
			seen[id] = true
		}
		if i > 0 && it.Score > items[i-1].Score && q.Sort == "" {
			t.Errorf("%+v: row %d scores %v behind %v", q, i, it.Score, items[i-1].Score)
		}
	}
}

// Facets and totals count what words found and what vectors found, each row once.
func TestFacetsCountWhatVectorsFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	both := w.observe(s, "bugfix", "Carousel", "")
	meant := w.observe(s, "change", "Slideshow", "")
	elsewhere := w.observe(w.open("b", "bank"), "change", "Slideshow", "")
	near := &nearStub{found: vectors.Found{Used: true}}
	for _, id := range []events.ID{meant, both, elsewhere} {
		near.found.Hits = append(near.found.Hits, vectors.Hit{ID: id, Score: 0.5})
	}
	w.Recall.cfg.Semantic = near
	for text, want := range map[string][]Count{
		"carousel": {{Value: "change", Count: 2}, {Value: "bugfix", Count: 1}}, "...": {{Value: "change", Count: 2}, {Value: "bugfix", Count: 1}},
	} {
		got := w.mustSearch(Query{Text: text, Near: true, Facets: true})
		if diff := cmp.Diff(want, got.Facets.Type); diff != "" || got.Total != 3 || len(got.Results) != 3 {
			t.Errorf("%q: %d of %d rows; types (-want +got):\n%s", text, len(got.Results), got.Total, diff)
		}
	}
}

// A search in which everything says the same looks at some of it, and heeds the end of its time.
func TestMuchOfTheSameIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const rows = 3000
	for i := 0; i < rows; {
		s := w.open(fmt.Sprint(i), "shop")
		var list []events.Event
		for range 20 {
			i++
			list = append(list, events.PromptSubmitted{Number: i, Text: "continue please"})
		}
		w.put(s.Stream(), list...)
	}
	w.sync()
	l := newResultSet(w.Recall, Query{Text: "continue"}, index.Query{Text: "continue"}, moment{}, semanticHits{})
	if err := l.fill(t.Context(), DefaultLimit); err != nil {
		t.Fatal(err)
	}
	if len(l.shown) <= DefaultLimit || len(l.shown) > DefaultLimit+slice || l.next > maxFolded+2*slice+DefaultLimit {
		t.Errorf("%d rows shown of %d that were looked at", len(l.shown), l.next)
	}
	if first := l.shown[0]; len(first.similar) != maxFolded-1 || first.count != maxFolded-1 || l.total() != rows-maxFolded+1 {
		t.Errorf("the first stands for %d others, in all there are %d", len(first.similar), l.total())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := newResultSet(w.Recall, Query{Text: "continue"}, index.Query{Text: "continue"}, moment{}, semanticHits{}).fill(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("after its time: %v", err)
	}
}
