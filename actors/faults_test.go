package actors

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/turn"
	"github.com/cmemd/cmemd/testkit/logtest"
	"github.com/cmemd/cmemd/testkit/providertest"
)

// TestStoppingUnderLoad runs on the real clock: what races here are goroutines, not timers.
func TestStoppingUnderLoad(t *testing.T) {
	t.Parallel()
	for range 20 {
		log := logtest.Open(t, eventlog.Config{})
		sys, err := New(Config{Log: log, Providers: []Route{{Provider: providertest.NewScripted(good)}}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		ready, done := make(chan struct{}), make(chan struct{})
		go func() { _ = sys.Run(ctx, ready); close(done) }()
		<-ready
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() { captureUntilStopped(t, sys, i) })
		}
		time.Sleep(5 * time.Millisecond)
		cancel()
		<-done
		at, _ := log.Last(context.Background())
		wg.Wait()
		if now, _ := log.Last(context.Background()); now != at {
			t.Errorf("the log grew from %d to %d after Run returned", at, now)
		}
		if n := sys.live.Load(); n != 0 {
			t.Errorf("%d session actors outlived Run", n)
		}
	}
}

func captureUntilStopped(t *testing.T, sys *System, i int) {
	for n := 0; ; n++ {
		o := origin(fmt.Sprint(i, n))
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		_, err := sys.Do(ctx, o.Session(),
			session.Capture{ID: sys.cfg.NewID(), At: time.Now(), Origin: o, Event: events.ToolUsed{}},
			session.Capture{ID: sys.cfg.NewID(), At: time.Now(), Origin: o, Event: events.AgentStopped{}})
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			t.Error("a caller was left without an answer")
		}
		if err != nil {
			return
		}
	}
}

func TestADegradedDaemonTriesAgainThoughNobodyOwesAProbe(t *testing.T) {
	var healed atomic.Bool
	step := func(ctx context.Context, n int, p observer.Prompt) (observer.Reply, error) {
		if healed.Load() {
			return good(ctx, n, p)
		}
		panic("boom")
	}
	bubble(t, func(w *world) {
		w.owing("0", "1", "2", "new")
		for i := range 3 {
			w.work(fmt.Sprint(i), 1)
			w.stopAgent(fmt.Sprint(i))
		}
		time.Sleep(5 * time.Minute)
		if len(all[events.DaemonDegraded](w)) == 0 {
			t.Fatal("three quarantines did not degrade the daemon")
		}
		w.stopCleanly()
		for i := range 3 { // what they owe is forgotten: none has a probe to make
			w.forgetAll(fmt.Sprint(i))
		}
		w.start()
		if st, err := w.sys.Status(w.t.Context()); err != nil || !st.Degraded {
			t.Errorf("after a restart: %+v, %v; want it still degraded", st, err)
		}
		healed.Store(true)
		w.work("new", 1)
		w.stopAgent("new")
		synctest.Wait()
		if w.state("new").Balance().Observed != 0 {
			t.Error("a new session was observed at once, although only probes and trials may be")
		}
		if got := w.settled("new"); got.Observed != 2 {
			t.Errorf("got %+v, want the new session observed by a trial", got)
		}
		if d := all[events.DaemonDegraded](w); !d[len(d)-1].Cleared {
			t.Errorf("got %+v, want it cleared", d)
		}
	}, step)
}

func TestWorkThatArrivesWhileASessionLeavesIsNotForgotten(t *testing.T) {
	bubble(t, func(w *world) {
		h := w.hooked()
		h.badStream(1)
		h.onAppend = func(s events.StreamID) {
			if s == events.Daemon {
				time.Sleep(time.Second) // the supervisor records a fault, and its mailbox fills
			}
		}
		w.work("a", 1)
		w.capture("a", events.SessionClosed{})
		w.settled("a")
		time.Sleep(10*time.Minute - 500*time.Millisecond)
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = w.tryKeyed("bad", events.ToolUsed{}, 1) })
		time.Sleep(100 * time.Millisecond)
		wg.Go(func() {
			if _, err := w.tryKeyed("a", events.ToolUsed{}, 2); err != nil {
				t.Error(err)
			}
			if _, err := w.tryKeyed("a", events.AgentStopped{}, 3); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(time.Millisecond)
		for i := range 500 {
			w.wake(sid(fmt.Sprint("other", i)))
		}
		wg.Wait()
		if got := w.settled("a"); got.Pending != 0 || got.Captured != 4 {
			t.Errorf("got %+v, want all four settled", got)
		}
	}, good)
}

// called reports whether a function whose name ends so is on the stack.
func called(name string) bool {
	pcs := make([]uintptr, 40)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.Function, name) {
			return true
		}
		if !more {
			return false
		}
	}
}

// panicsIn makes the clock panic while the function with that name is on the stack, n times.
func (w *world) panicsIn(name string, n int32) {
	var left atomic.Int32
	left.Store(n)
	w.cfg.Now = func() time.Time {
		if called(name) && left.Add(-1) >= 0 {
			panic("a bug in " + name)
		}
		return time.Now()
	}
	w.stopCleanly()
	w.start()
}

func TestACrashLoopIsParkedAndItsCallersAreAnswered(t *testing.T) {
	bubble(t, func(w *world) {
		w.panicsIn(").begin", 1000)
		w.work("s", 1)
		w.stopAgent("s")
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := len(all[events.SessionFaulted](w)); n < 3 || n > 4 {
			t.Errorf("%d faults, want it parked after three in a row", n)
		}
		if _, err := w.try("s", events.ToolUsed{}); !errors.Is(err, ErrParked) {
			t.Errorf("got %v, want ErrParked", err)
		}
		if st, err := w.sys.Status(w.t.Context()); err != nil || st.Waiting != 0 {
			t.Errorf("%+v, %v: want nobody waiting", st, err)
		}
	}, good)
}

func TestParkingAnswersWhoeverWaits(t *testing.T) {
	bubble(t, func(w *world) {
		w.hooked().badStream(1000)
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				_, err := w.tryKeyed("bad", events.ToolUsed{}, i)
				if err == nil || errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("caller %d: got %v, want an answer that says what is wrong", i, err)
				}
			})
		}
		wg.Wait()
		if st, err := w.sys.Status(w.t.Context()); err != nil || st.Waiting != 0 {
			t.Errorf("%+v, %v: want nobody waiting", st, err)
		}
	}, good)
}

func TestACrashedSessionGivesItsLeaseBack(t *testing.T) {
	var armed atomic.Bool
	steps := []providertest.Step{}
	for range 5 {
		steps = append(steps, providertest.Panic("boom"))
	}
	steps = append(steps, providertest.Hang(), good)
	bubble(t, func(w *world) {
		w.cfg.Slots = 1
		w.cfg.Now = func() time.Time {
			if armed.Load() && called("(*sessionActor).Receive") && armed.CompareAndSwap(true, false) {
				panic("boom")
			}
			return time.Now()
		}
		w.stopCleanly()
		w.start()
		w.work("a", 20)
		for w.provider.Calls() < 6 { // five crashes; the sixth call hangs, and holds the only slot
			time.Sleep(time.Second)
			synctest.Wait()
		}
		armed.Store(true)
		if _, err := w.try("a", events.PromptSubmitted{}); !errors.Is(err, ErrFaulted) {
			t.Fatalf("got %v, want ErrFaulted", err)
		}
		w.work("b", 1)
		w.stopAgent("b")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if got := w.state("b").Balance(); got.Observed != 2 {
			t.Errorf("got %+v: the slot of a crashed and quarantined session was not given back", got)
		}
	}, steps...)
}

func TestAReadErrorPostponesTheTurnAndNothingElse(t *testing.T) {
	bubble(t, func(w *world) {
		h := w.hooked()
		var gets atomic.Int32
		h.onGet = func(events.Position) error {
			if gets.Add(1) <= 3 {
				time.Sleep(100 * time.Millisecond)
				return errors.New("read error")
			}
			return nil
		}
		h.onAppend = func(events.StreamID) {
			if gets.Load() > 0 && gets.Load() < 3 {
				time.Sleep(300 * time.Millisecond) // an append is in flight when the read fails
			}
		}
		w.work("s", 1)
		w.stopAgent("s")
		var wg sync.WaitGroup
		for i := range 5 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * 60 * time.Millisecond)
				if _, err := w.tryKeyed("s", events.ToolUsed{Tool: "Read"}, i); err != nil {
					t.Errorf("a capture beside it: %v", err)
				}
			})
		}
		wg.Wait()
		w.stopAgent("s")
		if got := w.settled("s"); got.Observed != 8 {
			t.Errorf("got %+v, want 8 observed", got)
		}
		if f := all[events.SessionFaulted](w); len(f) != 0 {
			t.Errorf("faults %+v, want none", f)
		}
	}, good)
}

func TestADamagedRecordIsLeftOutOfItsTurn(t *testing.T) {
	bubble(t, func(w *world) {
		h := w.hooked()
		w.work("s", 1)
		bad := w.capture("s", events.ToolUsed{Tool: "Damaged"}).Position
		h.onGet = func(p events.Position) error {
			if p == bad {
				return &eventlog.CorruptError{Position: p, Reason: "test"}
			}
			return nil
		}
		w.stopAgent("s")
		if got := w.settled("s"); got.Observed != 3 {
			t.Errorf("got %+v, want 3 observed", got)
		}
		if in := w.provider.Prompts()[0].Inputs; len(in) != 2 || in[1].Event != nil {
			t.Errorf("got %+v, want the damaged one empty", in)
		}
	}, good)
}

func TestADeafProviderDoesNotHoldTheStop(t *testing.T) {
	bubble(t, func(w *world) {
		w.work("s", 1)
		w.stopAgent("s")
		synctest.Wait()
		began := time.Now()
		w.stop()
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("the stop took %v, want at most the grace of 5 s", took)
		}
		time.Sleep(3 * time.Hour)
	}, func(context.Context, int, observer.Prompt) (observer.Reply, error) {
		time.Sleep(2 * time.Hour)
		return observer.Reply{}, nil
	})
}

func TestAnOutputTooLongToKeepIsTruncatedAndBounded(t *testing.T) {
	bubble(t, func(w *world) {
		w.capture("s", events.ToolUsed{Tool: "Bad"})
		w.stopAgent("s")
		w.calls()
		w.asked("other")
		if got := w.settled("s"); got.Dropped != 1 || got.Observed != 1 {
			t.Errorf("got %+v, want what is answered too long given up", got)
		}
		for _, f := range all[events.TurnFailed](w) {
			if f.Class != events.FailTruncated || f.Output.Len() > turn.KeptOutput {
				t.Errorf("got class %s and %d bytes kept", f.Class, f.Output.Len())
			}
		}
	}, onBad(providertest.Text(strings.Repeat("x", 17<<20))))
}

func TestACutOutputOfOneInputKeepsItsClosedBlocks(t *testing.T) {
	for name, c := range map[string]struct {
		output string
		want   session.Balance
	}{
		"a closed block":   {goodObservation + "<observation><title>cut", session.Balance{Captured: 2, Observed: 2}},
		"an open thought":  {"<thinking>let me see what the tool", session.Balance{Captured: 2, Observed: 2}},
		"nothing whatever": {"", session.Balance{Captured: 2, Observed: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.work("s", 1)
				w.stopAgent("s")
				if got := w.settled("s"); got != c.want {
					t.Errorf("got %+v, want %+v", got, c.want)
				}
				if n, closed := len(all[events.TurnFailed](w)), name == "a closed block"; (n == 0) != closed {
					t.Errorf("%d failed turns", n)
				}
				if len(all[events.OutputSkipped](w)) != 0 {
					t.Error("a cut output was taken for one that skips")
				}
			}, providertest.Fail(observer.Failure{Class: events.FailTruncated, Output: events.NewOutput(c.output)}), good)
		})
	}
}

func TestABadDraftFailsItsOwnCallerOnly(t *testing.T) {
	bubble(t, func(w *world) {
		h := w.hooked()
		h.onAppend = func(events.StreamID) { time.Sleep(time.Second) }
		h.onDrafts = func(ds []events.Draft) error {
			for _, d := range ds {
				if u, ok := d.Event.(events.ToolUsed); ok && u.Tool == "Huge" {
					return fmt.Errorf("test: %w", events.ErrTooLarge)
				}
			}
			return nil
		}
		var wg sync.WaitGroup
		for i := range 9 {
			wg.Go(func() {
				tool := "Read"
				if i == 4 {
					tool = "Huge"
				}
				_, err := w.tryKeyed("s", events.ToolUsed{Tool: tool}, i)
				if (tool == "Huge") != errors.Is(err, events.ErrTooLarge) || tool == "Read" && err != nil {
					t.Errorf("%s: %v", tool, err)
				}
			})
		}
		wg.Wait()
		w.stopAgent("s")
		if got := w.settled("s"); got.Observed != 9 {
			t.Errorf("got %+v, want the eight good ones and the stop observed", got)
		}
	}, good)
}

func TestASessionsSupervisorThatCrashesFindsItsSessionsAgain(t *testing.T) {
	bubble(t, func(w *world) {
		w.owing("a")
		var armed atomic.Bool
		w.cfg.Now = func() time.Time {
			if called("(*sessions).wakeAt") && armed.CompareAndSwap(true, false) {
				panic("boom")
			}
			return time.Now()
		}
		w.stopCleanly()
		w.start()
		w.work("a", 1)
		armed.Store(true)
		time.Sleep(11 * time.Minute) // passivation sets a timer
		synctest.Wait()
		if armed.Load() {
			t.Error("the supervisor never crashed")
		}
		w.stopAgent("a")
		if got := w.settled("a"); got.Observed != 2 {
			t.Errorf("got %+v, want 2 observed", got)
		}
	}, good)
}
