package index

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cmemd/cmemd/eventlog"
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

// stuckLog reads nothing once it is told to, until whoever reads gives up, and a while longer.
type stuckLog struct {
	eventlog.Log
	stuck, met chan struct{}
	once       sync.Once
	left       atomic.Bool
}

func (l *stuckLog) All(ctx context.Context, from events.Position) iter.Seq2[events.Record, error] {
	select {
	case <-l.stuck:
	default:
		return l.Log.All(ctx, from)
	}
	return func(yield func(events.Record, error) bool) {
		l.once.Do(func() { close(l.met) })
		<-ctx.Done()
		time.Sleep(300 * time.Millisecond) // real files and scorch's own goroutines: no bubble
		l.left.Store(true)
		yield(events.Record{}, ctx.Err())
	}
}

// TestCloseEndsARebuild closes an index while it is made anew: Close waits until nobody writes to its files any more, and
// what was in use is opened again.
func TestCloseEndsARebuild(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	w.observe(w.open("codex", "s", "p"), "needle", "")
	log := &stuckLog{Log: w.log, stuck: make(chan struct{}), met: make(chan struct{})}
	dir := t.TempDir()
	x, err := Open(t.Context(), dir, log, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(log.stuck)
	ended := make(chan error, 1)
	go func() { ended <- x.Rebuild(t.Context(), nil) }()
	<-log.met
	if err := x.Close(); err != nil || !log.left.Load() {
		t.Fatalf("closed with %v, while the rebuild is still reading: %v", err, !log.left.Load())
	}
	if stores, _ := filepath.Glob(filepath.Join(dir, "g*")); len(stores) != 1 {
		t.Errorf("stores: got %v, want the one that was in use", stores)
	}
	if err := <-ended; !errors.Is(err, ErrClosed) {
		t.Errorf("the rebuild ended with %v, want ErrClosed", err)
	}
	if err := errors.Join(x.Close(), x.Rebuild(t.Context(), nil)); !errors.Is(err, ErrClosed) || strings.Contains(err.Error(), "\n") {
		t.Errorf("afterwards: got %v, want ErrClosed of the rebuild alone", err)
	}
	y, err := Open(t.Context(), dir, w.log, Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { y.Close() })
	mustHold(t, y, 1)
}
