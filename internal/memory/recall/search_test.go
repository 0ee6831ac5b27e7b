package recall

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
	"github.com/google/go-cmp/cmp"
)

func TestSearchShowsLiveRowsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	kept := w.observe(s, "bugfix", "Token cache", "It expired late.")
	w.observe(s, "bugfix", "Token cache", "It expired late.") // the same words: one row, counted twice
	old, by, gone := newID(), newID(), newID()
	w.put(events.Daemon,
		events.MemorySaved{Memory: old, Project: "shop", Text: "token lives an hour"},
		events.MemorySaved{Memory: by, Project: "shop", Text: "token lives a day"},
		events.MemorySuperseded{Memory: old, By: by},
		events.MemorySaved{Memory: gone, Project: "shop", Text: "token abc"},
	)
	w.put(events.Daemon, events.MemoryForgotten{IDs: []events.ID{gone}})
	a := w.mustSearch(Query{Text: "token"})
	if diff := cmp.Diff(names([]events.ID{kept, by}), names(idsOf(a.Results))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for _, it := range a.Results {
		if it.ID == kept && it.Count != 2 {
			t.Errorf("count %d, want 2", it.Count)
		}
	}
}

// As of an earlier position the row that was superseded since stands, and its successor is not there yet.
func TestAsOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old, by := newID(), newID()
	first := w.put(events.Daemon, events.MemorySaved{Memory: old, Project: "shop", Text: "token lives an hour"})[0]
	w.put(events.Daemon, events.MemorySaved{Memory: by, Project: "shop", Text: "token lives a day"}, events.MemorySuperseded{Memory: old, By: by})
	if diff := cmp.Diff([]events.ID{old}, idsOf(w.mustSearch(Query{Text: "token", AsOf: first.Position}).Results)); diff != "" {
		t.Errorf("then: -want +got\n%s", diff)
	}
	if diff := cmp.Diff([]events.ID{by}, idsOf(w.mustSearch(Query{Text: "token"}).Results)); diff != "" {
		t.Errorf("now: -want +got\n%s", diff)
	}
}

func TestPositionAt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	times := map[events.Position]time.Time{}
	for range 9 {
		times[w.put(events.Daemon, events.MemorySaved{Memory: newID(), Text: "x"})[0].Position] = w.now
	}
	for p, at := range times {
		for shift, want := range map[time.Duration]events.Position{-time.Second: p - 1, 0: p, time.Second: p} {
			if got, err := w.PositionAt(t.Context(), at.Add(shift)); err != nil || got != want {
				t.Errorf("%v after record %d: got %d, %v, want %d", shift, p, got, err, want)
			}
		}
	}
}

func TestItem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("native", "shop")
	id := newID()
	rec := w.put(s.Stream(), events.ObservationParsed{Observation: id, Type: "bugfix", Title: "Rounding", Narrative: strings.Repeat("Many words before. ", 20) + "Then the carousel stopped.", Unseen: true})[0]
	got := w.mustSearch(Query{Text: "carousel"}).Results
	if len(got) != 1 {
		t.Fatalf("got %+v", got)
	}
	it := got[0]
	want := Item{
		ID: id, Handle: rows.Handle{At: rec.Place().Position}, Kind: rows.Observation, Title: "Rounding", Score: it.Score, Project: "shop", ProjectRoot: "/src/shop",
		Session: s.String(), AgentSession: "native", Agent: "codex", At: rec.OccurredAt, Position: rec.Position, Type: "bugfix",
		Tokens: 104, Writer: events.WriterObserver, Flagged: true, Snippet: it.Snippet, Mark: id,
	}
	if diff := cmp.Diff(want, it); diff != "" || it.Score <= 0 {
		t.Errorf("-want +got\n%s", diff)
	}
	if !strings.Contains(it.Snippet, "Then the carousel stopped.") || size(it.Snippet) > snippetLength+1 {
		t.Errorf("snippet %q", it.Snippet)
	}
}

func TestSavedMemoryShowsItsSaversSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(events.Daemon, events.MemorySaved{Memory: newID(), Project: "shop", Title: "Note", Text: "carousel", Session: "meeting-7", At: w.now})
	if got := w.mustSearch(Query{Text: "carousel"}).Results; len(got) != 1 || got[0].Session != "meeting-7" || got[0].Project != "shop" {
		t.Errorf("got %+v", got)
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	for range 90 {
		w.observe(s, "change", "Carousel "+newID().String(), "")
	}
	seen := map[events.ID]bool{}
	for offset := 0; ; offset += 25 {
		page := w.mustSearch(Query{Text: "carousel", Limit: 25, Offset: offset}).Results
		if len(page) == 0 {
			break
		}
		for _, it := range page {
			if seen[it.ID] {
				t.Errorf("%s is on two pages", it.ID)
			}
			seen[it.ID] = true
		}
	}
	if len(seen) != 90 {
		t.Errorf("%d rows on all pages, want 90", len(seen))
	}
	if n := len(w.mustSearch(Query{Text: "carousel"}).Results); n != DefaultLimit {
		t.Errorf("%d results without a limit, want %d", n, DefaultLimit)
	}
}

// Superseded rows must not make a page short.
func TestManySupersededRows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	last := newID()
	w.put(events.Daemon, events.MemorySaved{Memory: last, Text: "carousel " + strings.Repeat("padding ", 60)})
	for range 300 {
		id := newID()
		w.put(events.Daemon, events.MemorySaved{Memory: id, Text: "carousel"}, events.MemorySuperseded{Memory: id, By: last})
	}
	for _, limit := range []int{1, 5} {
		got := w.mustSearch(Query{Text: "carousel", Limit: limit})
		if diff := cmp.Diff([]events.ID{last}, idsOf(got.Results)); diff != "" || got.Total != 1 {
			t.Errorf("limit %d: total %d; -want +got\n%s", limit, got.Total, diff)
		}
	}
}

// Where a total is beyond what a page shows, the next page shows something.
func TestTotalCountsWhatCanBeShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	for range 5 {
		w.observe(s, "change", "Carousel "+newID().String(), "")
	}
	kept := newID()
	w.put(events.Daemon, events.MemorySaved{Memory: kept, Text: "carousel " + strings.Repeat("padding ", 30)})
	for range 200 {
		id := newID()
		w.put(events.Daemon, events.MemorySaved{Memory: id, Text: "carousel " + strings.Repeat("padding ", 60)}, events.MemorySuperseded{Memory: id, By: kept})
	}
	for _, limit := range []int{1, 3, 5, 6, 10} {
		shown := 0
		for {
			page := w.mustSearch(Query{Text: "carousel", Limit: limit, Offset: shown})
			shown += len(page.Results)
			if more := page.Total > shown; more != (shown < 6) || len(page.Results) == 0 {
				t.Fatalf("limit %d: %d shown, total %d", limit, shown, page.Total)
			}
			if shown == 6 {
				break
			}
		}
	}
}

func TestPhraseComesFirst(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, false) // what else there is weighs in
	w.observe(w.open("a", "shop"), "change", "Notes", "the store of the session was lost")
	want := w.observe(w.open("b", "shop"), "change", "Notes", "the session store was lost here")
	w.observe(w.open("c", "shop"), "change", "Notes", "a store for sessions, one session each")
	if got := w.mustSearch(Query{Text: "session store"}).Results; got[0].ID != want {
		t.Errorf("got %q first", got[0].Title)
	}
}

func TestBadQueries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, q := range []Query{{Limit: 101}, {Limit: -1}, {Offset: -1}, {Offset: 10_001}, {Kinds: []rows.Kind{"memory", "thought"}}} {
		if _, err := w.Search(t.Context(), q); !errors.Is(err, ErrBadQuery) {
			t.Errorf("%+v: got %v, want %v", q, err, ErrBadQuery)
		}
	}
}

func TestWaitForAPosition(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.observe(w.open("a", "shop"), "change", "carousel", "")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := w.Wait(ctx, 2); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("nobody applies the log, yet: %v", err)
	}
	go w.sync()
	if err := w.Wait(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	a, err := w.Search(t.Context(), Query{Text: "carousel"})
	if err != nil || len(a.Results) != 1 || a.Results[0].ID != id || a.Position < 2 {
		t.Errorf("got %+v, %v", a, err)
	}
}
