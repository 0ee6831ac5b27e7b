package recall

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/vectors"
)

// nearStub says what is near, and remembers what it was asked.
type nearStub struct {
	found vectors.Found
	text  string
	only  []events.Position
	times int
}

func (n *nearStub) Nearest(_ context.Context, text string, only []events.Position, _ int) vectors.Found {
	n.text, n.only, n.times = text, only, n.times+1
	return n.found
}

// TestNear: what words and what vectors find is one list, with both ranks where they are asked for; rows that are not shown
// stay away, whichever of both finds them.
func TestNear(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	words := w.observe(s, "bugfix", "The carousel stopped", "Its motor was too warm.")
	both := w.observe(s, "change", "Carousel of the cart", "A picture turns.")
	meaning := w.observe(s, "change", "Slideshow is broken", "Images do not rotate.")
	long := "The lock of the images was held while the slideshow waited for the lock of the cart, and nothing went on until both were taken in order"
	first := w.observe(s, "change", "Lock of the carousel", long)
	again := w.observe(w.open("b", "shop"), "change", "Lock of the carousel", long+".")
	gone, old, by := newID(), newID(), newID()
	w.put(events.Daemon,
		events.MemorySaved{Memory: gone, Text: "carousel gone"}, events.MemorySaved{Memory: old, Text: "pictures once"},
		events.MemorySaved{Memory: by, Text: "pictures now"}, events.MemorySuperseded{Memory: old, By: by})
	w.put(events.Daemon, events.MemoryForgotten{IDs: []events.ID{gone}})
	near := &nearStub{found: vectors.Found{Used: true, Note: "vectors: 40 % filled"}}
	for _, id := range []events.ID{meaning, gone, both, old, again, first} {
		near.found.Hits = append(near.found.Hits, vectors.Hit{ID: id, Score: 0.5})
	}
	w.Recall.cfg.Semantic = near
	plain := w.mustSearch(Query{Text: "carousel"})
	if near.times != 0 || plain.Near || plain.Note != "" {
		t.Errorf("vectors were used though nobody wants them: %+v", plain)
	}
	place := map[events.ID]int{}
	for i, it := range plain.Results {
		place[it.ID] = i + 1
	}
	folded := first // the one of both that says the same and is not shown
	if place[first] > 0 {
		folded = again
	}
	got := w.mustSearch(Query{Text: "carousel", Near: true, Explain: true})
	ranks := map[events.ID]Ranks{}
	for i, it := range got.Results {
		if it.Ranks == nil || i > 0 && it.Score > got.Results[i-1].Score {
			t.Fatalf("result %d: %+v", i, it)
		}
		ranks[it.ID] = *it.Ranks
	}
	shown := first
	if folded == first {
		shown = again
	}
	want := map[events.ID]Ranks{
		words: {Words: place[words]}, both: {Words: place[both], Vectors: 2}, meaning: {Vectors: 1},
		shown: {Words: place[shown], Vectors: 3},
	}
	if diff := cmp.Diff(want, ranks); diff != "" || got.Results[0].ID != both {
		t.Errorf("%s is first, want %s (-want +got):\n%s", got.Results[0].ID, both, diff)
	}
	if !got.Near || got.Note != "vectors: 40 % filled" || got.Total != plain.Total+1 || near.only != nil {
		t.Errorf("got near %t, %q, %d in all of %d by words, asked among %v", got.Near, got.Note, got.Total, plain.Total, near.only)
	}
}

// TestNearIsNarrowed: the filters hold for vectors too, and where order is by time, or there are no words, they are not asked.
func TestNearIsNarrowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.observe(w.open("a", "shop"), "change", "one", "")
	in := w.observe(w.open("b", "bank"), "change", "two", "")
	near := &nearStub{found: vectors.Found{Note: "vectors: not used: the endpoint: 429"}}
	w.Recall.cfg.Semantic = near
	w.mustSearch(Query{}) // until it is known
	row, err := w.views.Row(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	got := w.mustSearch(Query{Text: "two", Project: "bank", Near: true})
	if diff := cmp.Diff([]events.Position{row.Position}, near.only); diff != "" || near.text != "two" {
		t.Errorf("asked for %q among (-want +got):\n%s", near.text, diff)
	}
	if got.Near || got.Note != near.found.Note || len(got.Results) != 1 || got.Results[0].Score == 0 || got.Results[0].Ranks != nil {
		t.Errorf("without vectors: got %+v", got)
	}
	asked := near.times
	for _, q := range []Query{{Near: true}, {Near: true, Text: "one", Sort: Newest}, {Near: true, Text: "one", Sort: Oldest}} {
		w.mustSearch(q)
	}
	if near.times != asked {
		t.Errorf("vectors were asked %d times where their order does not count", near.times-asked)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	<-ctx.Done()
	if _, err := w.Search(ctx, Query{Text: "two", Near: true}); err == nil {
		t.Error("an end of the wait is no error")
	}
}
