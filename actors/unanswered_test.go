package actors

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/testkit/providertest"
)

// onBad takes step over the bad input, and answers everything else well.
func onBad(step providertest.Step) providertest.Step {
	return func(ctx context.Context, n int, p observer.Prompt) (observer.Reply, error) {
		if hasBad(p) {
			return step(ctx, n, p)
		}
		return good(ctx, n, p)
	}
}

func blaming() []events.FailureClass {
	return []events.FailureClass{events.FailRefused, events.FailOverflow, events.FailTruncated}
}

// bad captures the bad input.
func (w *world) bad(name string) events.Position {
	return w.capture(name, events.ToolUsed{Tool: "Bad"}).Position
}

// given lists the inputs that were given up.
func (w *world) given() (ps []events.Position) {
	for _, d := range all[events.InputsDropped](w) {
		ps = append(ps, d.Inputs...)
	}
	return ps
}

// TestWhoRefusesEverythingCostsNothing: it is paused, ever longer, and asked one at a time. When it answers again, all
// that it was ever asked about is observed.
func TestWhoRefusesEverythingCostsNothing(t *testing.T) {
	for _, class := range blaming() {
		t.Run(string(class), func(t *testing.T) {
			var well atomic.Bool
			bubble(t, func(w *world) {
				w.work("a", 24)
				w.asked("a", "b", "c")
				time.Sleep(6 * time.Hour)
				calls := w.calls()
				if calls > 250 {
					t.Errorf("%d questions in six hours, want few", calls)
				}
				if d := w.given(); len(d) != 0 {
					t.Fatalf("given up: %v", d)
				}
				st := w.status()
				if p := st.Providers[w.provider.Name()]; p.Class != class || p.Probe < 3 || st.InUse == "" {
					t.Errorf("got %+v, in use %q; want a pause that doubles, and new work let through", p, st.InUse)
				}
				well.Store(true)
				w.asked("new")
				began := time.Now()
				for name, want := range map[string]int{"a": 26, "b": 2, "c": 2, "new": 2} {
					if got := w.settled(name); got.Observed != want {
						t.Errorf("%s: %+v, want %d observed", name, got, want)
					}
				}
				if waited := time.Since(began); waited > 0 {
					t.Errorf("the rest took %v after new work was answered", waited)
				}
			}, until(&well, failing(class)))
		})
	}
}

// TestWhoRefusesEverythingIsPassedOver: the fallback takes over, and the provider is not asked about each new input.
func TestWhoRefusesEverythingIsPassedOver(t *testing.T) {
	for _, class := range blaming() {
		t.Run(string(class), func(t *testing.T) {
			bubble(t, func(w *world) {
				w.providers(named("a", "", failing(class)), named("b", "", good))
				for range 5 {
					w.work("s", 1)
					synctest.Wait()
				}
				w.wantWhom("a", "a", "a", "b (not a)", "a", "b (not a)", "b (not a)", "b (not a)", "b (not a)")
				if got := w.settled("s"); got.Observed != 5 || len(w.given()) != 0 {
					t.Errorf("got %+v, want all observed by the other", got)
				}
				if st := w.status(); st.InUse != "b" || !st.Providers["a"].Paused {
					t.Errorf("got %+v, want b in use", st)
				}
			})
		})
	}
}

// TestABadInputAmongGoodSessionsIsGivenUp: for who answers others says something of it. Nobody waits for that.
func TestABadInputAmongGoodSessionsIsGivenUp(t *testing.T) {
	for _, class := range blaming() {
		t.Run(string(class), func(t *testing.T) {
			bubble(t, func(w *world) {
				bad := w.bad("bad")
				w.stopAgent("bad")
				w.calls() // all its tries come first: else it may be the last one that is asked about
				began := time.Now()
				for _, name := range []string{"a", "b", "c", "d"} {
					w.asked(name)
				}
				for _, name := range []string{"a", "b", "c", "d"} {
					if got := w.settled(name); got.Observed != 2 || time.Since(began) > 0 {
						t.Errorf("%s: %+v after %v, want all observed at once", name, got, time.Since(began))
					}
				}
				if got := w.settled("bad"); got.Dropped != 1 || got.Observed != 1 || time.Since(began) > 0 {
					t.Errorf("got %+v after %v, want the bad one given up and its stop observed", got, time.Since(began))
				}
				if d := cmp.Diff([]events.Position{bad}, w.given()); d != "" {
					t.Errorf("given up (-want +got):\n%s", d)
				}
			}, onBad(failing(class)))
		})
	}
}

// TestABadInputAloneWaitsForWorkThatIsAnswered, of its own session or another, which does not wait for it.
func TestABadInputAloneWaitsForWorkThatIsAnswered(t *testing.T) {
	for _, where := range []string{"s", "other"} {
		for _, class := range blaming() {
			t.Run(string(class)+", work in "+where, func(t *testing.T) {
				bubble(t, func(w *world) {
					bad := w.bad("s")
					w.stopAgent("s")
					time.Sleep(5*time.Minute + time.Second)
					if n := w.calls(); len(w.given()) != 0 || n > 6 {
						t.Fatalf("given up %v after %d questions, want it held and asked rarely", w.given(), n)
					}
					began := time.Now()
					w.asked(where)
					synctest.Wait()
					if got := w.state(where).Balance(); got.Observed < 2 {
						t.Errorf("new work: %+v, want it observed at once", got)
					}
					w.settled("s")
					if d := cmp.Diff([]events.Position{bad}, w.given()); d != "" || time.Since(began) > 0 {
						t.Errorf("given up after %v (-want +got):\n%s", time.Since(began), d)
					}
				}, onBad(failing(class)))
			})
		}
	}
}

// TestTheBlamelessGoFirst through a provider that rests because of others, one at a time.
func TestTheBlamelessGoFirst(t *testing.T) {
	var well atomic.Bool
	slow := providertest.After(10*time.Second, good)
	bubble(t, func(w *world) {
		w.asked("old")
		w.calls()
		well.Store(true)
		w.asked("x", "y")
		synctest.Wait()
		if n := w.provider.Running(); n != 1 {
			t.Errorf("%d are asked at once, want one probe", n)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if x, y := w.state("x").Balance(), w.state("y").Balance(); x.Observed+y.Observed == 0 {
			t.Errorf("%+v and %+v, want one answered before what was blamed", x, y)
		}
		if got := w.settled("old"); got.Observed != 2 {
			t.Errorf("what was blamed: %+v, want it observed", got)
		}
	}, func(ctx context.Context, n int, p observer.Prompt) (observer.Reply, error) {
		if well.Load() {
			return slow(ctx, n, p)
		}
		return failing(events.FailRefused)(ctx, n, p)
	})
}

// TestNewWorkProlongsNoPause: as it comes it is tried, and the pause ends when it would have ended.
func TestNewWorkProlongsNoPause(t *testing.T) {
	bubble(t, func(w *world) {
		w.asked("old")
		w.calls()
		for _, name := range []string{"a", "b", "c", "d"} {
			before := w.calls()
			w.asked(name)
			if n := w.calls() - before; n != 1 {
				t.Errorf("%d questions for new work, want one", n)
			}
		}
		if d := cmp.Diff([]int{1}, w.probes()); d != "" {
			t.Errorf("pauses (-want +got):\n%s", d)
		}
		before := w.calls()
		time.Sleep(time.Minute)
		if n := w.calls() - before; n != 1 {
			t.Errorf("%d questions at the end of the pause, want one probe", n)
		}
		if d := cmp.Diff([]int{1, 2}, w.probes()); d != "" {
			t.Errorf("pauses (-want +got):\n%s", d)
		}
	}, failing(events.FailRefused))
}

// TestADaemonRestartForgetsNoRow: what counts toward a pause, and what was answered last, is read from the log.
func TestADaemonRestartForgetsNoRow(t *testing.T) {
	t.Run("two of three", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.owing("s")
			w.asked("a")
			w.settled("a")
			w.bad("s")
			w.stopAgent("s")
			synctest.Wait()
			w.kill()
			w.start()
			time.Sleep(time.Minute)
			if d := cmp.Diff([]int{1}, w.probes()); d != "" {
				t.Errorf("pauses (-want +got):\n%s", d)
			}
			fails := all[events.TurnFailed](w)
			answered := fails[len(fails)-1].Answered
			if r, err := w.log.Get(w.t.Context(), answered); err != nil || !slices.Contains([]events.Kind{events.KindTurnReceived, events.KindSummaryParsed}, r.Kind) {
				t.Errorf("answered at %d: a %s (%v), want the last answer of the life before", answered, r.Kind, err)
			}
		}, good, good, failing(events.FailRefused), failing(events.FailRefused), providertest.Hang(), failing(events.FailRefused), providertest.Hang())
	})
	t.Run("a pause", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.asked("a")
			w.calls()
			before := len(w.probes())
			w.owing("a")
			w.again()
			synctest.Wait()
			if n := len(w.probes()); n != before+1 {
				t.Errorf("%d pauses after a restart, %d before; want the one probe of a new life to pause it again", n, before)
			}
		}, failing(events.FailRefused))
	})
}
