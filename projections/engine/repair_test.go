package engine

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// gated is a log that can be held up while it is read.
type gated struct {
	eventlog.Log
	gate chan events.Position // where the next reading that comes by is held up
	held chan struct{}        // it has come there
	open chan struct{}        // it may go on
}

func newGated(log eventlog.Log) gated {
	return gated{Log: log, gate: make(chan events.Position, 1), held: make(chan struct{}), open: make(chan struct{})}
}

func (l gated) All(ctx context.Context, from events.Position) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		var gate events.Position
		select {
		case gate = <-l.gate:
		default:
		}
		for r, err := range l.Log.All(ctx, from) {
			if gate != 0 && r.Position == gate {
				l.held <- struct{}{}
				<-l.open
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// mustRepair makes the file anew, as when somebody has found damage in it.
func mustRepair(t *testing.T, v *Views) {
	t.Helper()
	epoch, _ := v.head()
	if done, err := v.repair(epoch, Damaged("a test")); err != nil || !done {
		t.Fatalf("repair: got %v, %v", done, err)
	}
}

func checkAsFresh(t *testing.T, w *world, v *Views) {
	t.Helper()
	fresh := mustOpen(t, t.TempDir(), w.log, Config{})
	mustCatchUp(t, fresh)
	if diff := cmp.Diff(dump(t, fresh), dump(t, v)); diff != "" {
		t.Fatalf("after the repair (-fresh +repaired):\n%s", diff)
	}
}

// TestRepairDuringRebuild makes the file anew while a view is rebuilt into the bucket that is the live one of the new
// file.
func TestRepairDuringRebuild(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cancelled bool
		want      error
	}{
		"given up": {true, context.Canceled},
		"gone on":  {false, ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.open()
			for range 150 {
				w.tool()
			}
			log := newGated(w.log)
			v := mustOpen(t, t.TempDir(), log, Config{Pace: Pace{Records: 8}})
			mustCatchUp(t, v)
			if err := v.Rebuild(t.Context(), nil, nil); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error, 1)
			log.gate <- 30
			go func() { done <- v.Rebuild(ctx, []string{"sessions"}, nil) }()
			<-log.held
			mustRepair(t, v)
			if c.cancelled {
				cancel()
			}
			close(log.open)
			if err := <-done; !errors.Is(err, c.want) {
				t.Fatalf("rebuild: got %v, want %v", err, c.want)
			}
			mustCatchUp(t, v)
			checkAsFresh(t, w, v)
		})
	}
}

// TestRepairBesideRun makes the file anew under a Run that waits for what comes next.
func TestRepairBesideRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open()
	v := mustOpen(t, t.TempDir(), w.log, Config{})
	stop := running(t, v)
	if err := v.Wait(t.Context(), w.tool()); err != nil {
		t.Fatal(err)
	}
	mustRepair(t, v)
	if err := v.Wait(t.Context(), w.tool()); err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	checkAsFresh(t, w, v)
}

// A file that somebody else has made anew already is left alone.
func TestRepairOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open()
	v := mustOpen(t, t.TempDir(), w.log, Config{})
	epoch, _ := v.head()
	mustRepair(t, v)
	mustCatchUp(t, v)
	before := dump(t, v)
	if done, err := v.repair(epoch, Damaged("long ago")); done || err != nil {
		t.Fatalf("repair: got %v, %v", done, err)
	}
	if diff := cmp.Diff(before, dump(t, v)); diff != "" || v.Position() == 0 {
		t.Fatalf("at %d (-before +after):\n%s", v.Position(), diff)
	}
}

// TestRunRepairs lets damage be found in a file again and again: what counts is how often of late.
func TestRunRepairs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		times int
		every time.Duration
		anew  uint64
		fails bool
	}{
		{"a bad hour", maxRepairs, time.Second, maxRepairs, false},
		{"a bad year", 50, repairWindow / 2, 50, false},
		{"a bad disk", maxRepairs + 1, time.Second, maxRepairs, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.open()
				at := w.tool()
				v := mustOpen(t, t.TempDir(), w.log, Config{})
				stop := running(t, v)
				for range c.times {
					if err := v.Wait(t.Context(), at); err != nil {
						t.Fatal(err)
					}
					v.broken <- Damaged("a test")
					synctest.Wait()
					time.Sleep(c.every)
				}
				err := stop()
				if failed := errors.Is(err, ErrDamaged); failed != c.fails || failed != (err != nil) {
					t.Fatalf("run: got %v, want an error: %v", err, c.fails)
				}
				if epoch, _ := v.head(); epoch != c.anew {
					t.Fatalf("made anew %d times, want %d", epoch, c.anew)
				}
				if !c.fails && v.Position() != at {
					t.Fatalf("at %d, want %d", v.Position(), at)
				}
			})
		})
	}
}
