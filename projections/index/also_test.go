package index

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/cmemd/cmemd/events"
)

// TestAlso: what is found by other means is counted once, where it passes the filters, and is no hit.
func TestAlso(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	a, b := w.open("codex", "a", "shop"), w.open("codex", "b", "bank")
	w.observe(a, "carousel", "")
	w.observe(a, "slideshow", "")
	w.observe(b, "slideshow", "")
	x := w.mustOpen(t.TempDir())
	all := mustSearch(t, x, Query{}).Hits
	also := []events.Position{9999}
	for _, h := range all {
		also = append(also, h.Position)
	}
	for _, c := range []struct {
		q           Query
		hits, total int
		projects    []Count
	}{
		{Query{Text: "carousel"}, 1, 3, []Count{{"shop", 2}, {"bank", 1}}},
		{Query{Text: "carousel", Project: "shop"}, 1, 2, []Count{{"shop", 2}}},
		{Query{Text: "carousel", Project: "bank"}, 0, 1, []Count{{"bank", 1}}},
		{Query{Text: "...", Project: "bank"}, 0, 1, []Count{{"bank", 1}}},
		{Query{Text: "unknown"}, 0, 3, []Count{{"shop", 2}, {"bank", 1}}},
		{Query{Text: "slideshow", Sort: Newest}, 2, 3, []Count{{"shop", 2}, {"bank", 1}}},
		{Query{}, 3, 3, []Count{{"shop", 2}, {"bank", 1}}},
	} {
		c.q.Also, c.q.Facets = also, true
		got := mustSearch(t, x, c.q)
		if diff := cmp.Diff(c.projects, got.Facets.Project); diff != "" || got.Total != c.total || len(got.Hits) != c.hits {
			t.Errorf("%+v: %d hits of %d, want %d of %d; projects (-want +got):\n%s", c.q, len(got.Hits), got.Total, c.hits, c.total, diff)
		}
	}
}

// TestLimitsAgree: a smaller limit gives the beginning of what a larger one gives, beyond what is ranked by its neighbours too.
func TestLimitsAgree(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	w.fill(newCorpus(3), 2*reorderedHits)
	x := w.mustOpen(t.TempDir())
	c := newCorpus(3)
	for _, q := range []Query{{Text: c.words[3] + " " + c.words[7]}, {Text: c.words[40]}, {Text: c.words[3], Sort: Newest}, {}} {
		q.Limit = 5000
		all := mustSearch(t, x, q).Hits
		for i := 1; i < len(all); i++ {
			if all[i].Score > all[i-1].Score && q.Sort == Relevance {
				t.Fatalf("%+v: hit %d scores %v behind %v", q, i, all[i].Score, all[i-1].Score)
			}
		}
		for _, q.Limit = range []int{1, 20, 100, reorderedHits - 1, reorderedHits + 1, len(all)} {
			got := mustSearch(t, x, q).Hits
			if diff := cmp.Diff(all[:min(q.Limit, len(all))], got); diff != "" {
				t.Fatalf("%+v: of %d hits (-want +got):\n%s", q, len(all), diff)
			}
		}
	}
}

// TestNamesThatLookLikeRoots: a name is anybody's word, and finds nothing as another project's root or as the name of what has none.
func TestNamesThatLookLikeRoots(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	for _, name := range []string{"/src/shop", "\x00shop", `C:\src\shop`} {
		w.put(events.Daemon,
			events.MemorySaved{Memory: uuid.Must(uuid.NewV7()), Project: name, ProjectRoot: "/src/evil", Text: "carousel"},
			events.MemorySaved{Memory: uuid.Must(uuid.NewV7()), Project: name, Text: "carousel"})
	}
	x := w.mustOpen(t.TempDir())
	for _, q := range []Query{{Project: "/src/shop"}, {Projects: []string{"/src/shop", `C:\src\shop`}}, {Rootless: []string{"shop", "\x00shop"}}} {
		if got := mustSearch(t, x, q); got.Total != 0 {
			t.Errorf("%+v finds %d of another project", q, got.Total)
		}
	}
	if got := mustSearch(t, x, Query{Project: "/src/evil"}); got.Total != 3 {
		t.Errorf("its own: %d, want 3", got.Total)
	}
}

// TestRootless: what has no root is found by its name alone, apart from what has one; the name's facet counts both.
func TestRootless(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	rooted := w.observe(w.open("codex", "a", "shop"), "carousel", "")
	id, elsewhere := uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7())
	w.put(events.Daemon,
		events.MemorySaved{Memory: id, Project: "shop", Text: "carousel"},
		events.MemorySaved{Memory: uuid.Must(uuid.NewV7()), Project: "shop", ProjectRoot: "/other/shop", Text: "carousel"},
		events.MemorySaved{Memory: elsewhere, Project: "bank", Text: "carousel"})
	x := w.mustOpen(t.TempDir())
	for _, c := range []struct {
		q    Query
		want []events.ID
	}{
		{Query{Rootless: []string{"shop"}}, []events.ID{id}},
		{Query{Project: "/src/shop", Rootless: []string{"shop"}}, []events.ID{id, rooted}},
		{Query{Projects: []string{"/src/shop"}, Rootless: []string{"bank"}}, []events.ID{elsewhere, rooted}},
		{Query{Rootless: []string{"none"}}, []events.ID{}},
	} {
		if diff := cmp.Diff(fmt.Sprint(c.want), fmt.Sprint(idsOf(mustSearch(t, x, c.q)))); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.q, diff)
		}
	}
	if got, err := x.Rootless(t.Context()); err != nil || !slices.Equal(got, []Count{{"bank", 1}, {"shop", 1}}) {
		t.Errorf("names without a root: %v, %v", got, err)
	}
	if diff := cmp.Diff([]Count{{"shop", 3}, {"bank", 1}}, mustSearch(t, x, Query{Facets: true}).Facets.Project); diff != "" {
		t.Errorf("projects (-want +got):\n%s", diff)
	}
}
