package index

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
)

// Whatever makes the index anew at once, each in its own time: none may take the other's files away.
func TestRebuildsAtOnce(t *testing.T) {
	t.Parallel()
	rebuild := func(ctx context.Context, x *Index) error { return x.Rebuild(ctx, nil) }
	for name, c := range map[string]struct {
		after  time.Duration
		second func(context.Context, *Index) error
	}{
		"two started together": {0, rebuild},
		"one a little later":   {100 * time.Millisecond, rebuild},
		"beside a purge":       {20 * time.Millisecond, func(ctx context.Context, x *Index) error { return x.CatchUp(ctx) }},
		"beside a restart": {20 * time.Millisecond, func(ctx context.Context, x *Index) error {
			if err := x.restart(ctx, x.store.Load()); err != nil {
				return err
			}
			return x.catchUp(ctx)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWriter(t)
			w.fill(newCorpus(5), 1500)
			s := w.open("codex", "s", "p")
			gone := w.observe(s, "needle one", "")
			w.observe(s, "needle two", "")
			dir := t.TempDir()
			x := w.mustOpen(dir)
			w.put(s.Stream(), events.MemoryForgotten{IDs: []events.ID{gone}})
			if err := x.catchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
			var both sync.WaitGroup
			both.Go(func() {
				if err := rebuild(t.Context(), x); err != nil {
					t.Errorf("first: %v", err)
				}
			})
			both.Go(func() {
				time.Sleep(c.after) // real files and scorch's own goroutines: no bubble
				if err := c.second(t.Context(), x); err != nil {
					t.Errorf("second: %v", err)
				}
			})
			both.Wait()
			mustHold(t, x, 1501)
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
			y, err := Open(t.Context(), dir, w.log, Config{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { y.Close() })
			mustHold(t, y, 1501)
			if stores, _ := filepath.Glob(filepath.Join(dir, "g*")); len(stores) != 1 {
				t.Errorf("stores: got %v, want one", stores)
			}
		})
	}
}

// mustHold checks that x holds n documents, one of them the needle that was not forgotten.
func mustHold(t *testing.T, x *Index, n uint64) {
	t.Helper()
	if st, err := x.Stats(); err != nil || st.Documents != n {
		t.Fatalf("got %d documents, %v, want %d", st.Documents, err, n)
	}
	if got := mustSearch(t, x, Query{Text: "needle"}).Total; got != 1 {
		t.Fatalf("got %d needles, want 1", got)
	}
}

func TestRebuildGivenUpLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	w.fill(newCorpus(5), 1500)
	dir := t.TempDir()
	x := w.mustOpen(dir)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := x.Rebuild(ctx, func(events.Position, events.Position) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want context.Canceled", err)
	}
	if stores, _ := filepath.Glob(filepath.Join(dir, "g*")); len(stores) != 1 {
		t.Errorf("stores: got %v, want the one in use", stores)
	}
}
