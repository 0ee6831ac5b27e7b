package actors

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/testkit/providertest"
)

// owing wakes the sessions named at every start.
func (w *world) owing(names ...string) {
	w.cfg.Owing = func(context.Context) ([]events.SessionID, error) {
		var ids []events.SessionID
		for _, n := range names {
			ids = append(ids, sid(n))
		}
		return ids, nil
	}
}

func TestKilledInTheMiddleOfTwoHundredAllAreSettledOnce(t *testing.T) {
	bubble(t, func(w *world) {
		w.owing("s")
		w.work("s", 200)
		w.stopAgent("s")
		for range 8 {
			time.Sleep(1500 * time.Millisecond) // a turn takes a second: each life dies in the middle of one
			w.kill()
			w.start()
		}
		if got := w.settled("s"); got.Captured != 201 || got.Observed != 201 {
			t.Errorf("got %+v, want all 201 observed", got)
		}
	}, providertest.After(time.Second, good))
}

func TestADaemonRestartGrantsNoNewAttempts(t *testing.T) {
	bubble(t, func(w *world) {
		w.owing("s")
		w.work("s", 20)
		for range 5 {
			time.Sleep(20 * time.Second)
			w.kill()
			w.start()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		q := all[events.SessionQuarantined](w)
		if len(q) == 0 {
			t.Fatalf("no quarantine after %d calls over six lives", w.provider.Calls())
		}
		if n := len(all[events.SessionRespawned](w)); n != 5 {
			t.Errorf("%d restarts before the quarantine, want 5 in all lives together", n)
		}
	}, providertest.Panic("boom"))
}

func TestACleanStopCountsAgainstNobody(t *testing.T) {
	bubble(t, func(w *world) {
		w.owing("s")
		w.work("s", 20)
		for range 10 {
			time.Sleep(time.Second)
			w.stopCleanly()
			w.start()
		}
		synctest.Wait()
		if n := len(all[events.SessionRespawned](w)); n != 0 {
			t.Errorf("%d restarts counted for ten clean stops", n)
		}
		if n := len(all[events.TurnFailed](w)); n != 10 {
			t.Errorf("%d interruptions recorded for ten stops in the middle of a turn, want 10", n)
		}
		for _, f := range all[events.TurnFailed](w) {
			if f.Class != events.FailInterrupted || !f.Clean {
				t.Errorf("got %+v, want clean interruptions only", f)
			}
		}
	}, providertest.After(time.Minute-time.Second, good))
}

// hooked is a log that can be slow, or fail.
type hooked struct {
	eventlog.Log
	onAppend func(events.StreamID)       // before each append
	onDrafts func([]events.Draft) error  // its error is the append's
	onGet    func(events.Position) error // its error is the read's
	onStream func(events.StreamID) error // its error is the sequence's
}

func (h *hooked) Append(ctx context.Context, s events.StreamID, v events.Version, d ...events.Draft) ([]events.Record, error) {
	if h.onAppend != nil {
		h.onAppend(s)
	}
	if h.onDrafts != nil && s != events.Daemon {
		if err := h.onDrafts(d); err != nil {
			return nil, err
		}
	}
	return h.Log.Append(ctx, s, v, d...)
}

func (h *hooked) Get(ctx context.Context, p events.Position) (events.Record, error) {
	if h.onGet != nil {
		if err := h.onGet(p); err != nil {
			return events.Record{}, err
		}
	}
	return h.Log.Get(ctx, p)
}

func (h *hooked) Stream(ctx context.Context, s events.StreamID, from events.Version) iter.Seq2[events.Record, error] {
	if h.onStream != nil {
		if err := h.onStream(s); err != nil {
			return func(yield func(events.Record, error) bool) { yield(events.Record{}, err) }
		}
	}
	return h.Log.Stream(ctx, s, from)
}

// hooked begins a new life of the daemon on a log with hooks.
func (w *world) hooked() *hooked {
	w.t.Helper()
	w.stopCleanly()
	h := &hooked{Log: w.log}
	w.over = h
	w.start()
	return h
}

// badStream makes the first n folds of session "bad" fail.
func (h *hooked) badStream(n int32) {
	var left atomic.Int32
	left.Store(n)
	h.onStream = func(s events.StreamID) error {
		if s == sid("bad").Stream() && left.Add(-1) >= 0 {
			return errBoom
		}
		return nil
	}
}

func TestASessionThatCrashesTwiceRecovers(t *testing.T) {
	bubble(t, func(w *world) {
		w.hooked().badStream(2)
		w.capture("bad", events.ToolUsed{Tool: "Read"}) // waits in the mailbox over both crashes
		w.work("sibling", 1)
		if n := len(all[events.SessionFaulted](w)); n != 2 {
			t.Errorf("%d faults recorded, want 2", n)
		}
	}, good)
}

// TestDamageOfTheLogParksOneSession: a session whose part of the log cannot be read is told as that, and others go on.
func TestDamageOfTheLogParksOneSession(t *testing.T) {
	bubble(t, func(w *world) {
		damage := &eventlog.CorruptError{Position: 7, Reason: "a page"}
		w.hooked().onStream = func(s events.StreamID) error {
			if s == sid("bad").Stream() {
				return damage
			}
			return nil
		}
		for range 2 {
			_, err := w.try("bad", events.ToolUsed{})
			if got, ok := errors.AsType[*eventlog.CorruptError](err); !ok || got != damage || !errors.Is(err, ErrParked) {
				t.Errorf("got %v, want the damage", err)
			}
		}
		w.work("sibling", 1)
	}, good)
}

func TestASessionThatCannotRecoverIsParked(t *testing.T) {
	bubble(t, func(w *world) {
		w.hooked().badStream(1000)
		if _, err := w.try("bad", events.ToolUsed{}); !errors.Is(err, ErrParked) {
			t.Errorf("a request that waits while it is parked: got %v, want ErrParked", err)
		}
		if _, err := w.try("bad", events.ToolUsed{}); !errors.Is(err, ErrParked) {
			t.Errorf("got %v, want ErrParked", err)
		}
		f := all[events.SessionFaulted](w)
		if len(f) != 3 || f[0].Session != sid("bad") {
			t.Errorf("got %+v, want three faults", f)
		}
		w.work("sibling", 1)
		w.stopAgent("sibling")
		if got := w.settled("sibling"); got.Observed != 2 {
			t.Errorf("the sibling: %+v, want 2 observed", got)
		}
	}, good)
}

func TestAnAppendErrorFailsTheCallerAndNothingElse(t *testing.T) {
	bubble(t, func(w *world) {
		h := w.hooked()
		var failed atomic.Bool
		h.onDrafts = func([]events.Draft) error {
			if failed.CompareAndSwap(false, true) {
				return eventlog.ErrDiskFull
			}
			return nil
		}
		if _, err := w.try("s", events.ToolUsed{}); !errors.Is(err, eventlog.ErrDiskFull) {
			t.Errorf("got %v, want the log's own error", err)
		}
		w.work("s", 1)
		if got := w.state("s").Balance().Captured; got != 1 {
			t.Errorf("%d captured, want 1", got)
		}
	}, good)
}

func TestACommandThatPanicsIsAnsweredAndNamed(t *testing.T) {
	var armed atomic.Bool
	bubble(t, func(w *world) {
		w.cfg.Now = func() time.Time {
			if armed.CompareAndSwap(true, false) {
				panic("boom")
			}
			return time.Now()
		}
		w.stop()
		w.start()
		w.work("s", 1)
		synctest.Wait()
		armed.Store(true)
		if _, err := w.try("s", events.PromptSubmitted{Text: "secret"}); !errors.Is(err, ErrFaulted) {
			t.Errorf("got %v, want ErrFaulted", err)
		}
		synctest.Wait() // the caller is answered before the fault is on disk
		f := all[events.SessionFaulted](w)
		if len(f) != 1 || f[0].Command != "capture prompt_submitted" || f[0].Session != sid("s") {
			t.Errorf("got %+v, want the command named", f)
		}
		w.work("s", 1)
		if got := w.state("s").Balance().Captured; got != 2 {
			t.Errorf("%d captured, want 2", got)
		}
	}, good)
}

func TestThreeQuarantinesDegradeUntilAProbeIsAnswered(t *testing.T) {
	var healed atomic.Bool
	step := func(ctx context.Context, n int, p observer.Prompt) (observer.Reply, error) {
		if healed.Load() {
			return good(ctx, n, p)
		}
		panic("boom")
	}
	bubble(t, func(w *world) {
		for i := range 3 {
			w.work(fmt.Sprint(i), 20)
		}
		time.Sleep(50 * time.Second)
		synctest.Wait()
		d := all[events.DaemonDegraded](w)
		if len(d) != 1 || d[0].Cleared {
			t.Fatalf("got %+v, want one degradation", d)
		}
		healed.Store(true)
		w.work("new", 1)
		w.stopAgent("new")
		synctest.Wait()
		if w.state("new").Balance().Observed != 0 {
			t.Error("a session was observed although only probes may run")
		}
		for _, s := range []string{"0", "1", "2", "new"} {
			if got := w.settled(s); got.Pending != 0 {
				t.Errorf("session %s: %+v, want nothing pending", s, got)
			}
		}
		d = all[events.DaemonDegraded](w)
		if len(d) != 2 || !d[1].Cleared {
			t.Errorf("got %+v, want it cleared", d)
		}
	}, step)
}
