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
	"github.com/cmemd/cmemd/observer"
	"github.com/cmemd/cmemd/testkit/providertest"
)

func newMemory() *eventlog.Memory { return eventlog.NewMemory(eventlog.Config{}) }

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
		for life := 0; w.state("s").Owes() && life < 60; life++ {
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
		for _, f := range all[events.TurnFailed](w) {
			if f.Class != events.FailInterrupted || !f.Clean {
				t.Errorf("got %+v, want clean interruptions only", f)
			}
		}
	}, providertest.After(time.Minute-time.Second, good))
}

// faulty is a log whose reads or appends can be made to fail.
type faulty struct {
	eventlog.Log
	panics  atomic.Int32
	fails   atomic.Int32
	panicOn events.StreamID
}

func (f *faulty) Append(ctx context.Context, s events.StreamID, v events.Version, d ...events.Draft) ([]events.Record, error) {
	if s != events.Daemon && f.fails.Add(-1) >= 0 {
		return nil, eventlog.ErrDiskFull
	}
	return f.Log.Append(ctx, s, v, d...)
}

func (f *faulty) Stream(ctx context.Context, s events.StreamID, from events.Version) iter.Seq2[events.Record, error] {
	if s == f.panicOn && f.panics.Add(-1) >= 0 {
		return func(yield func(events.Record, error) bool) { yield(events.Record{}, errBoom) }
	}
	return f.Log.Stream(ctx, s, from)
}

func (w *world) faulty(panics, fails int32) *faulty {
	f := &faulty{Log: w.log, panicOn: sid("bad").Stream()}
	f.panics.Store(panics)
	f.fails.Store(fails)
	w.stop()
	w.start()
	w.stop()
	previous, err := Begin(context.Background(), w.log, w.draft(events.DaemonStarted{}))
	if err != nil {
		w.t.Fatal(err)
	}
	w.startOn(f, previous)
	return f
}

func (w *world) startOn(log eventlog.Log, previous Previous) {
	w.t.Helper()
	cfg := w.cfg
	cfg.Log, cfg.Previous, cfg.Provider = log, previous, w.provider
	var err error
	if w.sys, err = New(cfg); err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- w.sys.Run(ctx, ready) }()
	<-ready
	w.stop = func() {
		cancel()
		<-done
		w.stop = func() {}
	}
}

func TestASessionThatCrashesTwiceRecovers(t *testing.T) {
	bubble(t, func(w *world) {
		w.faulty(2, 0)
		w.capture("bad", events.ToolUsed{Tool: "Read"}) // waits in the mailbox over both crashes
		w.work("sibling", 1)
		if n := len(all[events.SessionFaulted](w)); n != 2 {
			t.Errorf("%d faults recorded, want 2", n)
		}
	}, good)
}

func TestASessionThatCannotRecoverIsParked(t *testing.T) {
	bubble(t, func(w *world) {
		w.faulty(1000, 0)
		if _, err := w.try("bad", events.ToolUsed{}); err == nil {
			t.Error("a request to a session that cannot be read was acknowledged")
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
		w.faulty(0, 1)
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
