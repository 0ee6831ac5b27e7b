package actors

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/testkit/providertest"
)

// again begins a new life of the daemon with what was changed in w.cfg.
func (w *world) again() {
	w.t.Helper()
	w.stopCleanly()
	w.start()
}

// asked is a unit of work that is due at once.
func (w *world) asked(names ...string) {
	w.t.Helper()
	for _, n := range names {
		w.work(n, 1)
		w.stopAgent(n)
	}
}

// calls waits for all that goes on now, and returns how often the provider was asked.
func (w *world) calls() int {
	synctest.Wait()
	return w.provider.Calls()
}

func failing(c events.FailureClass) providertest.Step {
	return providertest.Fail(observer.Failure{Class: c})
}

// until takes step while on is false, and good afterwards.
func until(on *atomic.Bool, step providertest.Step) providertest.Step {
	return func(ctx context.Context, n int, p observer.Prompt) (observer.Reply, error) {
		if on.Load() {
			return good(ctx, n, p)
		}
		return step(ctx, n, p)
	}
}

func TestEveryFaultOfTheProviderHoldsTheWorkAndBlamesNobody(t *testing.T) {
	for _, c := range events.FailureClasses() {
		if !c.BlamesProvider() {
			continue
		}
		t.Run(string(c), func(t *testing.T) {
			bubble(t, func(w *world) {
				w.asked("s")
				time.Sleep(time.Minute - time.Millisecond)
				if n := w.calls(); n != 1 {
					t.Errorf("%d calls within the first minute, want 1", n)
				}
				if p := all[events.ProviderPaused](w); len(p) != 1 || p[0].Class != c {
					t.Errorf("got %+v, want one pause", p)
				}
				if got := w.state("s").Balance(); got.Pending != 2 {
					t.Errorf("got %+v, want both held", got)
				}
				if got := w.settled("s"); got.Observed != 2 {
					t.Errorf("got %+v, want both observed in the end", got)
				}
				if n := len(all[events.SessionRespawned](w)) + len(all[events.InputsDropped](w)); n != 0 {
					t.Errorf("%d respawns or losses, want none", n)
				}
			}, failing(c), good)
		})
	}
}

func TestPausesDoubleToHalfAnHourWithOneProbeEach(t *testing.T) {
	var at []time.Duration
	begun := time.Time{}
	bubble(t, func(w *world) {
		begun = time.Now()
		w.asked("a")
		synctest.Wait()
		w.asked("b", "c")
		time.Sleep(130 * time.Minute)
		synctest.Wait()
		var want []time.Duration
		for _, m := range []time.Duration{0, 1, 3, 7, 15, 31, 61, 91, 121} {
			want = append(want, m*time.Minute)
		}
		if d := cmp.Diff(want, at); d != "" {
			t.Errorf("asked at (-want +got):\n%s", d)
		}
	}, func(context.Context, int, observer.Prompt) (observer.Reply, error) {
		at = append(at, time.Since(begun)) // one at a time, or the race detector says so
		return observer.Reply{}, &observer.Failure{Class: events.FailServer}
	})
}

func TestWhenAPauseEndsOneProbesAndThenAllGo(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "f"}
	bubble(t, func(w *world) {
		w.asked(names[0])
		synctest.Wait()
		w.asked(names[1:]...)
		time.Sleep(time.Minute + time.Second)
		if n := w.calls(); n != 2 || w.provider.Running() != 1 {
			t.Errorf("%d calls, %d running when the pause is over; want one probe", n, w.provider.Running())
		}
		time.Sleep(28 * time.Second)
		if n := w.calls(); n != 2 {
			t.Errorf("%d calls while the probe is not answered, want 2", n)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		for _, n := range names {
			if got := w.state(n).Balance(); got.Observed != 2 {
				t.Errorf("session %s: %+v, want all observed at once after the probe", n, got)
			}
		}
		if r := all[events.ProviderResumed](w); len(r) != 1 || r[0].By != "probe" {
			t.Errorf("got %+v, want one resume by a probe", r)
		}
	}, failing(events.FailLimit), providertest.After(30*time.Second, good), good)
}

func TestTurnsThatFailTogetherPauseTheProviderOnce(t *testing.T) {
	bubble(t, func(w *world) {
		w.asked("a", "b", "c")
		time.Sleep(2 * time.Second)
		if n := w.calls(); n != 2 {
			t.Fatalf("%d calls, want two at once", n)
		}
		if p := all[events.ProviderPaused](w); len(p) != 1 || p[0].Probe != 1 {
			t.Errorf("got %+v, want one pause, the first", p)
		}
		time.Sleep(time.Minute)
		if n := w.calls(); n != 3 {
			t.Errorf("%d calls after a minute, want a third: two failures at once are one", n)
		}
	}, providertest.After(time.Second, failing(events.FailOverload)))
}

func limitFor(d time.Duration) providertest.Step {
	return func(context.Context, int, observer.Prompt) (observer.Reply, error) {
		return observer.Reply{}, &observer.Failure{Class: events.FailLimit, ResetsAt: time.Now().Add(d)}
	}
}

// TestAnAnswerToAnEarlierQuestionEndsNoPause: of two turns in flight one meets the limit, and the other is answered a
// moment later. The reset time stands.
func TestAnAnswerToAnEarlierQuestionEndsNoPause(t *testing.T) {
	bubble(t, func(w *world) {
		w.asked("a", "b", "c")
		time.Sleep(2*time.Hour - time.Minute)
		if n := w.calls(); n != 2 {
			t.Errorf("%d calls before the reset, want the two that were out together", n)
		}
		time.Sleep(2 * time.Minute)
		for _, s := range []string{"a", "b", "c"} {
			if got := w.settled(s); got.Observed != 2 {
				t.Errorf("session %s: %+v, want both observed", s, got)
			}
		}
	}, providertest.After(time.Second, limitFor(2*time.Hour)), providertest.After(10*time.Second, good), good)
}

// TestAPauseThatTheMachineSleptThrough: what is held until a time goes on when the clock shows it, however little of that time
// timers noticed.
func TestAPauseThatTheMachineSleptThrough(t *testing.T) {
	var slept atomic.Int64
	bubble(t, func(w *world) {
		w.cfg.Now = func() time.Time { return time.Now().Add(time.Duration(slept.Load())) }
		w.again()
		w.asked("a")
		time.Sleep(10 * time.Minute)
		if n := w.calls(); n != 1 {
			t.Errorf("%d calls before the reset, want 1", n)
		}
		slept.Store(int64(8 * time.Hour))
		time.Sleep(2 * time.Minute)
		if n := w.calls(); n < 2 {
			t.Errorf("%d calls after the reset, want another", n)
		}
		w.settled("a")
	}, limitFor(2*time.Hour), good)
}

// TestAPausePastItsResetBlocksNothing: a snapshot of a limit must not outlive the limit, in this life or the next.
func TestAPausePastItsResetBlocksNothing(t *testing.T) {
	for name, restart := range map[string]func(w *world){
		"in one life":     func(*world) { time.Sleep(3 * time.Hour) },
		"after a stop":    func(w *world) { w.stopCleanly(); time.Sleep(3 * time.Hour); w.start() },
		"after a crash":   func(w *world) { w.kill(); time.Sleep(3 * time.Hour); w.start() },
		"a stop too soon": func(w *world) { w.again(); time.Sleep(3 * time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.capture("idle", events.PromptSubmitted{})
				w.asked("a")
				if w.calls() != 1 || w.state("a").Balance().Pending != 2 {
					t.Fatal("the limit holds nothing")
				}
				restart(w)
				w.asked("b") // whoever comes first probes
				time.Sleep(time.Second)
				synctest.Wait()
				if got := w.state("b").Balance(); got.Observed != 2 {
					t.Errorf("got %+v three hours after a limit of two, want all observed at once", got)
				}
				w.wake(sid("a"))
				if got := w.settled("a"); got.Observed != 2 {
					t.Errorf("got %+v, want what was held observed", got)
				}
			}, limitFor(2*time.Hour), good)
		})
	}
}

// TestANewStartIsAProbe: whoever starts the daemon again may have logged in, paid, or mended the settings. Of a server
// that failed they cannot say so.
func TestANewStartIsAProbe(t *testing.T) {
	for c, want := range map[events.FailureClass]bool{
		events.FailAuth: true, events.FailBilling: true, events.FailSetup: true, events.FailServer: false, events.FailLimit: false,
	} {
		t.Run(string(c), func(t *testing.T) {
			bubble(t, func(w *world) {
				w.owing("a", "b")
				w.asked("a", "b")
				before := w.calls()
				w.again()
				time.Sleep(time.Second)
				if n := w.calls() - before; (n > 0) != want {
					t.Errorf("%d calls after the second start; want a probe at once: %v", n, want)
				}
				if a, b := w.settled("a"), w.settled("b"); a.Observed != 2 || b.Observed != 2 {
					t.Errorf("got %+v and %+v, want all observed in the end", a, b)
				}
			}, failing(c), failing(c), good)
		})
	}
}

func TestTheTroubleOfOneSessionStopsNoOther(t *testing.T) {
	step := func(ctx context.Context, n int, p observer.Prompt) (observer.Reply, error) {
		if p.Request == "crash" {
			time.Sleep(8 * time.Second) // slower than any window would notice
			panic("boom")
		}
		return good(ctx, n, p)
	}
	bubble(t, func(w *world) {
		w.capture("bad", events.PromptSubmitted{Text: "crash"})
		w.work("bad", 20)
		for i := range 30 {
			name := fmt.Sprint("good", i%3)
			w.asked(name)
			time.Sleep(5 * time.Second)
			synctest.Wait()
			if got := w.state(name).Balance(); got.Pending != 0 {
				t.Fatalf("session %s waits beside one in trouble: %+v", name, got)
			}
		}
		q := all[events.SessionQuarantined](w)
		if len(q) == 0 || q[0].Cause != "consecutive" || q[0].Counted.Consecutive != 6 || q[0].Limits.MaxConsecutive != 5 {
			t.Errorf("got %+v, want a crash every 8 s quarantined at the sixth in a row", q)
		}
		if len(all[events.ProviderPaused](w)) != 0 {
			t.Error("a session's crashes paused the provider for all")
		}
		w.capture("bad", events.ToolUsed{Tool: "Read"})
		if got := w.state("bad").Balance(); got.Pending != 21 {
			t.Errorf("got %+v, want its work kept", got)
		}
	}, step)
}

func TestAQuarantineOutlivesTheDaemonAndEndsInOneProbe(t *testing.T) {
	var healed atomic.Bool
	bubble(t, func(w *world) {
		w.owing("s")
		w.work("s", 20)
		for len(all[events.SessionQuarantined](w)) == 0 {
			time.Sleep(time.Second)
			synctest.Wait()
		}
		calls := w.provider.Calls()
		w.kill()
		w.start()
		healed.Store(true)
		rest := time.Until(all[events.SessionQuarantined](w)[0].Until)
		time.Sleep(rest - time.Millisecond)
		if n := w.calls() - calls; n != 0 {
			t.Errorf("%d calls after a restart in quarantine, want none", n)
		}
		if got := w.settled("s"); got.Observed != 20 {
			t.Errorf("got %+v, want all 20 observed", got)
		}
		if probe := w.provider.Prompts()[calls]; len(probe.Inputs) != 1 {
			t.Errorf("the probe asked about %d inputs, want 1", len(probe.Inputs))
		}
	}, until(&healed, providertest.Panic("boom")))
}

func TestAPersonEndsAQuarantine(t *testing.T) {
	var healed atomic.Bool
	bubble(t, func(w *world) {
		w.work("s", 20)
		time.Sleep(40 * time.Second)
		synctest.Wait()
		healed.Store(true)
		if _, err := w.sys.Do(w.t.Context(), sid("s"), session.Release{ID: w.sys.cfg.NewID(), At: time.Now()}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := w.state("s").Balance(); got.Observed != 20 {
			t.Errorf("got %+v, want all observed at once", got)
		}
		if r := all[events.SessionReleased](w); len(r) != 1 || r[0].By != "person" {
			t.Errorf("got %+v, want one release by a person", r)
		}
	}, until(&healed, providertest.Panic("boom")))
}

// hasBad reports whether the bad input is among those of p.
func hasBad(p observer.Prompt) bool {
	for _, in := range p.Inputs {
		if u, ok := in.Event.(events.ToolUsed); ok && u.Tool == "Bad" {
			return true
		}
	}
	return false
}

// TestATurnThatIsTooLongOrRefusedBlamesItself halves down to the one bad input, asks for that with less, and drops it by
// name. Nobody else waits for it.
func TestATurnThatIsTooLongOrRefusedBlamesItself(t *testing.T) {
	for class, want := range map[events.FailureClass][]int{
		events.FailOverflow:  {20, 10, 5, 3, 2, 1, 1, 1},
		events.FailTruncated: {20, 10, 5, 3, 2, 1, 1, 1},
		events.FailRefused:   {20, 20, 20, 10, 10, 10, 5, 5, 5, 3, 3, 3, 2, 2, 2, 1, 1, 1},
	} {
		t.Run(string(class), func(t *testing.T) {
			step := func(ctx context.Context, n int, p observer.Prompt) (observer.Reply, error) {
				if hasBad(p) {
					return failing(class)(ctx, n, p)
				}
				return good(ctx, n, p)
			}
			bubble(t, func(w *world) {
				bad := w.capture("s", events.ToolUsed{Tool: "Bad", Output: string(make([]byte, 4000))}).Position
				w.work("s", 19)
				w.asked("other")
				began := time.Now()
				if got := w.settled("s"); got.Observed != 19 || got.Dropped != 1 {
					t.Errorf("got %+v, want all but one observed", got)
				}
				d := all[events.InputsDropped](w)
				if len(d) != 1 || len(d[0].Inputs) != 1 || d[0].Inputs[0] != bad {
					t.Errorf("got %+v, want input %d dropped by name", d, bad)
				}
				if waited := time.Since(began); waited > 0 || len(all[events.SessionRespawned](w)) != 0 {
					t.Errorf("it took %v, or the observer was blamed", waited)
				}
				if p := w.status().Providers[w.provider.Name()]; p.Probe != 0 {
					t.Errorf("the provider is left paused: %+v", p)
				}
				if n := len(all[events.ProviderPaused](w)); n != 0 && class != events.FailRefused {
					t.Errorf("%d pauses, where halving was progress", n)
				}
				if got := w.settled("other"); got.Observed != 2 {
					t.Errorf("the other session: %+v", got)
				}
				w.checkTries(t, want, class != events.FailRefused)
			}, step)
		})
	}
}

// checkTries looks at the turns over the bad input: how many inputs each had, and how much of it might be sent.
func (w *world) checkTries(t *testing.T, want []int, less bool) {
	var sizes, budgets []int
	for _, p := range w.provider.Prompts() {
		if hasBad(p) {
			sizes, budgets = append(sizes, len(p.Inputs)), append(budgets, p.Budget)
		}
	}
	if d := cmp.Diff(want, sizes); d != "" {
		t.Errorf("sizes of the turns over it (-want +got):\n%s", d)
	}
	wantBudgets := make([]int, len(want))
	if less {
		last := w.provider.Prompts()[len(w.provider.Prompts())-1]
		for _, p := range w.provider.Prompts() {
			if hasBad(p) {
				last = p
			}
		}
		wantBudgets[len(want)-2], wantBudgets[len(want)-1] = last.Size()/2, last.Size()/4
	}
	if d := cmp.Diff(wantBudgets, budgets); d != "" {
		t.Errorf("budgets of the turns over it (-want +got):\n%s", d)
	}
}
