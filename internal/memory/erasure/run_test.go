package erasure

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cmemd/cmemd/events"
)

var errFull = errors.New("no space left on device")

// failing has an eraser's files refuse to be made anew so many times.
func (w *world) failing(e *Eraser, times int) {
	purge := e.cfg.Files[0].Purge
	e.cfg.Files = []Files{{Name: "files", Purge: func(ctx context.Context, upTo events.Position) error {
		if times > 0 {
			times--
			return errFull
		}
		return purge(ctx, upTo)
	}}}
}

// running has an eraser run until the test ends.
func running(t *testing.T, e *Eraser) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var life sync.WaitGroup
	life.Go(func() {
		if err := e.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { stop(); life.Wait() })
	synctest.Wait()
}

// TestRunPurgesWhatAForgetCouldNot: files that could not be made anew are, in the same life, and not a moment before it is said
// that nothing is owed.
func TestRunPurgesWhatAForgetCouldNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		history(w)
		e := w.eraser(0)
		w.failing(e, 3)
		running(t, e)
		w.caughtUp()
		if _, err := e.Forget(t.Context(), Request{Query: "tool z"}, nil); !errors.Is(err, errFull) {
			t.Fatalf("forget: %v, want %v", err, errFull)
		}
		time.Sleep(retryFirst + time.Second) // the second try fails
		synctest.Wait()
		if s := e.Status(); !s.Owed || w.purged.Load() != 0 {
			t.Fatalf("after a try that fails: owed %t, made anew %d times", s.Owed, w.purged.Load())
		}
		time.Sleep(retryMost)
		synctest.Wait()
		if s := e.Status(); s.Owed || w.purged.Load() != 1 {
			t.Errorf("owed %t, made anew %d times, want once", s.Owed, w.purged.Load())
		}
		w.checkLeft([]string{"tool z", "raw [obs z]", "obs z"})
		w.verify()
	})
}

// TestForgetAgainPurges: who asks once more is not told that all is well while files hold what was forgotten.
func TestForgetAgainPurges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	history(w)
	w.failing(w.Eraser, 2)
	w.caughtUp()
	for try, want := range []error{errFull, errFull, nil, nil} {
		if plan, err := w.Plan(t.Context(), Request{Query: "tool z"}); err != nil || plan.Unfinished != (try == 1 || try == 2) {
			t.Errorf("before try %d: the plan says unfinished %t, %v", try, plan.Unfinished, err)
		}
		if _, err := w.Forget(t.Context(), Request{Query: "tool z"}, nil); !errors.Is(err, want) {
			t.Errorf("try %d: %v, want %v", try, err, want)
		}
		if s := w.Status(); s.Owed != (want != nil) {
			t.Errorf("try %d: owed %t", try, s.Owed)
		}
	}
	if w.purged.Load() != 1 {
		t.Errorf("made anew %d times, want once", w.purged.Load())
	}
}

// TestRetentionPurgesLater: a look that finds nothing more to erase has the files made anew that the one before could not.
func TestRetentionPurgesLater(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]func(t *testing.T, e *Eraser){
		"at the next look": func(t *testing.T, e *Eraser) {
			if err := e.retain(t.Context()); err != nil {
				t.Error(err)
			}
		},
		"by who runs it": func(_ *testing.T, _ *Eraser) { time.Sleep(retryFirst + time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				history(w)
				w.caughtUp()
				w.now = w.now.Add(10 * 24 * time.Hour)
				e := w.eraser(5 * 24 * time.Hour)
				w.failing(e, 1)
				if name == "by who runs it" {
					running(t, e)
				} else if err := e.retain(t.Context()); !errors.Is(err, errFull) {
					t.Fatalf("retain: %v, want %v", err, errFull)
				}
				time.Sleep(time.Second)
				synctest.Wait()
				if s := e.Status(); !s.Owed || s.Inputs != 6 {
					t.Fatalf("status %+v, want 6 inputs, and something owed", s)
				}
				again(t, e)
				synctest.Wait()
				if s := e.Status(); s.Owed || w.purged.Load() != 1 {
					t.Errorf("status %+v, made anew %d times, want once", s, w.purged.Load())
				}
			})
		})
	}
}

// TestARefusalHoldsNobodyBack: while one session cannot be asked, retention goes on with the others; and it is asked again, in
// the same life.
func TestARefusalHoldsNobodyBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		history(w)
		w.refuse.Store(sessionOf("one"), true)
		if done := w.forget(Request{Query: "tool a"}); len(done.Refused) != 1 {
			t.Fatalf("done %+v, want a refusal", done)
		}
		if !w.Status().Owed {
			t.Error("a session was not asked yet, and nothing is owed")
		}
		w.now = w.now.Add(10 * 24 * time.Hour)
		e := w.eraser(5 * 24 * time.Hour)
		running(t, e)
		time.Sleep(time.Minute)
		synctest.Wait()
		left := strings.Join(w.left(), "\n")
		if s := e.Status(); s.Inputs != 1 || s.Looked.IsZero() || !s.Owed || strings.Contains(left, "tool z") || !strings.Contains(left, "tool a") {
			t.Fatalf("status %+v, want one input; left:\n%s", s, left)
		}
		w.refuse.Delete(sessionOf("one"))
		time.Sleep(retryMost)
		synctest.Wait()
		left = strings.Join(w.left(), "\n")
		if s := e.Status(); s.Owed || strings.Contains(left, "obs a") {
			t.Errorf("status %+v; left:\n%s", s, left)
		}
		time.Sleep(25 * time.Hour)
		synctest.Wait()
		if s := e.Status(); s.Inputs != 4 || s.Owed {
			t.Errorf("a day later: %+v, want 4 inputs: of the stop another summary is owed, so that it stays", s)
		}
		w.verify()
	})
}
