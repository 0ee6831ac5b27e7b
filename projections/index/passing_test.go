package index

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
)

// TestPassing: it is what a search without words finds, by position and in order, and nil where nothing narrows it.
func TestPassing(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	c := newCorpus(7)
	w.fill(c, 300)
	s := w.open("codex", "own", "shop")
	w.observe(s, "the first", "of the shop")
	gone := w.observe(s, "gone", "soon")
	w.put(events.Daemon, events.MemoryForgotten{IDs: []events.ID{gone}})
	w.observe(s, "the last", "of the shop")
	x := w.mustOpen(t.TempDir())
	whole := mustSearch(t, x, Query{Limit: 1000})
	middle := whole.Hits[len(whole.Hits)/2]
	for name, q := range map[string]Query{
		"project":  {Project: "shop"},
		"agent":    {Agent: "codex", Text: "words do not count"},
		"type":     {Type: "change"},
		"as of":    {AsOf: middle.Position},
		"since":    {Since: middle.At},
		"until":    {Until: middle.At, Kinds: []Kind{Observation}},
		"together": {Project: "shop", Since: w.at.Add(-time.Second)},
		"nothing":  {Project: "no such"},
	} {
		got, err := x.Matching(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		q.Text, q.Limit, q.Sort = "", 1000, Oldest
		want := []events.Position{}
		for _, h := range mustSearch(t, x, q).Hits {
			want = append(want, h.Position)
		}
		if diff := cmp.Diff(want, got); diff != "" || got == nil {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got, err := x.Matching(t.Context(), Query{Text: "any"}); got != nil || err != nil {
		t.Errorf("without a filter: %v, %v; want nil", got, err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Matching(t.Context(), Query{Project: "shop"}); err == nil {
		t.Error("a closed index answered")
	}
}
