package engine

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/follow"
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
	if err := v.repair(epoch, Damaged("a test")); err != nil {
		t.Fatal(err)
	}
	if now, _ := v.head(); now == epoch {
		t.Fatal("the file was not made anew")
	}
}

func checkAsFresh(t *testing.T, w *world, v *Views) {
	t.Helper()
	fresh := mustOpen(t, t.TempDir(), w.log, Config{})
	follow.MustCatchUp(t, fresh)
	if diff := cmp.Diff(dump(t, fresh), dump(t, v)); diff != "" {
		t.Fatalf("after the repair (-fresh +repaired):\n%s", diff)
	}
}

// TestReadingWhileRepaired: a reader that meets the file while it is closed to be made anew is told so, and the new file is not taken for
// damaged.
func TestReadingWhileRepaired(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open()
	v := mustOpen(t, t.TempDir(), w.log, Config{})
	follow.MustCatchUp(t, v)
	v.applying.Lock()
	err := v.discardStore()
	if err == nil {
		if _, got := v.Origin(t.Context()); !errors.Is(got, ErrDamaged) {
			t.Errorf("while it is closed a reader is told %v", got)
		}
		v.epoch++
		err = v.openStore()
	}
	v.applying.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	select {
	case why := <-v.broken:
		t.Errorf("the new file is to be made anew again: %v", why)
	default:
	}
	follow.MustCatchUp(t, v)
	checkAsFresh(t, w, v)
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
			follow.MustCatchUp(t, v)
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
			follow.MustCatchUp(t, v)
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
	stop := follow.Run(t, v)
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
	follow.MustCatchUp(t, v)
	before := dump(t, v)
	if err := v.repair(epoch, Damaged("long ago")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, dump(t, v)); diff != "" || v.Position() == 0 {
		t.Fatalf("at %d (-before +after):\n%s", v.Position(), diff)
	}
}

// TestRunRepairs lets damage be found in a file again and again: what counts is how often of late.
func TestRunRepairs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		times   int
		every   time.Duration
		anew    uint64
		trouble bool
	}{
		{"a bad hour", maxRepairs, time.Second, maxRepairs, false},
		{"a bad year", 50, repairWindow / 2, 50, false},
		{"a bad disk", maxRepairs + 1, time.Second, maxRepairs, true},
		{"a bad disk, and a person", maxRepairs + 1, time.Second, maxRepairs, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.open()
				at := w.tool()
				v := mustOpen(t, t.TempDir(), w.log, Config{})
				stop := follow.Run(t, v)
				for range c.times {
					if err := v.Wait(t.Context(), at); err != nil {
						t.Fatal(err)
					}
					v.broken <- Damaged("a test")
					synctest.Wait()
					time.Sleep(c.every)
				}
				checkTrouble(t, v, c.trouble, ErrDamaged)
				if epoch, _ := v.head(); epoch != c.anew {
					t.Fatalf("made anew %d times, want %d", epoch, c.anew)
				}
				if c.trouble { // it is made anew once that was not done often of late, or as soon as a person wants it
					if !strings.Contains(c.name, "person") {
						time.Sleep(repairWindow + longestPause)
					} else if err := v.Rebuild(t.Context(), nil, nil); err != nil {
						t.Error(err)
					}
					synctest.Wait()
				}
				checkTrouble(t, v, false, nil)
				if err := stop(); err != nil || v.Position() != at {
					t.Fatalf("run: got %v at %d, want %d", err, v.Position(), at)
				}
			})
		})
	}
}

// checkTrouble checks whether v goes no further for now, and why.
func checkTrouble(t *testing.T, v *Views, want bool, why error) {
	t.Helper()
	switch got := v.Trouble(); {
	case (got != nil) != want:
		t.Fatalf("trouble: got %v, want one: %v", got, want)
	case want && !errors.Is(got.Err, why):
		t.Fatalf("trouble: got %v, want %v", got.Err, why)
	}
}

// failing is a log that cannot be read while it has a reason.
type failing struct {
	eventlog.Log
	why *atomic.Pointer[error]
}

func (l failing) Follow(ctx context.Context, from events.Position) iter.Seq2[events.Record, error] {
	if why := l.why.Load(); why != nil {
		return func(yield func(events.Record, error) bool) { yield(events.Record{}, *why) }
	}
	return l.Log.Follow(ctx, from)
}

// TestRunTriesAgain: what cannot be done now is tried again, with growing pauses, for ever; who waits for it gets it.
func TestRunTriesAgain(t *testing.T) {
	t.Parallel()
	for name, lasts := range map[string]time.Duration{"seconds": 4 * time.Second, "a day": 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.open()
				at := w.tool()
				full := error(syscall.ENOSPC)
				log := failing{w.log, new(atomic.Pointer[error])}
				log.why.Store(&full)
				v := mustOpen(t, t.TempDir(), log, Config{})
				stop := follow.Run(t, v)
				synctest.Wait()
				checkTrouble(t, v, true, syscall.ENOSPC)
				if err := v.WaitUnlessStopped(t.Context(), at); !errors.Is(err, ErrStopped) || !errors.Is(err, syscall.ENOSPC) {
					t.Errorf("a wait that is not patient: got %v", err)
				}
				limited, cancel := context.WithTimeout(t.Context(), time.Second/2)
				defer cancel()
				if err := v.Wait(limited, at); !errors.Is(err, ErrStopped) || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("a limited wait: got %v", err)
				}
				time.Sleep(lasts)
				synctest.Wait()
				if tr := v.Trouble(); tr == nil || time.Until(tr.RetryAt) > longestPause {
					t.Fatalf("got %v, want another try within %v", tr, longestPause)
				}
				began := time.Now()
				log.why.Store(nil)
				if err := v.Wait(t.Context(), at); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took > min(lasts+time.Second, longestPause) {
					t.Errorf("tried again after %v", took)
				}
				checkTrouble(t, v, false, nil)
				if err := stop(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// TestRebuildEndsPause: who asks for it gets what the log holds, and does not wait.
func TestRebuildEndsPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.open()
		log := failing{w.log, new(atomic.Pointer[error])}
		v := mustOpen(t, t.TempDir(), log, Config{})
		follow.Run(t, v)
		synctest.Wait()
		full := error(syscall.ENOSPC)
		log.why.Store(&full)
		v.broken <- full // as if a write had failed
		at := w.tool()
		time.Sleep(time.Hour)
		checkTrouble(t, v, true, syscall.ENOSPC)
		log.why.Store(nil)
		began := time.Now()
		if err := v.Rebuild(t.Context(), []string{"others"}, nil); err != nil {
			t.Fatal(err)
		}
		if v.Position() < at {
			t.Errorf("rebuilt up to %d, want %d", v.Position(), at)
		}
		synctest.Wait()
		checkTrouble(t, v, false, nil)
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %v", took)
		}
	})
}

// TestNotOpenedAgain: a file that could not be opened once it was deleted is opened at the next try.
func TestNotOpenedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.open()
		at := w.tool()
		dir := t.TempDir()
		v := mustOpen(t, dir, w.log, Config{})
		stop := follow.Run(t, v)
		if err := v.Wait(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		inTheWay := filepath.Join(dir, fileName+CopySuffix)
		if err := os.MkdirAll(filepath.Join(inTheWay, "full"), 0o700); err != nil {
			t.Fatal(err)
		}
		v.broken <- Damaged("a test")
		synctest.Wait()
		if tr := v.Trouble(); tr == nil {
			t.Fatal("it could be opened")
		}
		if err := os.RemoveAll(inTheWay); err != nil {
			t.Fatal(err)
		}
		time.Sleep(longestPause)
		if err := v.Wait(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		checkTrouble(t, v, false, nil)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		checkAsFresh(t, w, v)
	})
}
