package actors

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/providertest"
)

// bounds begins a life in which a session holds at most so much.
func (w *world) bounds(inputs int, age time.Duration) {
	w.t.Helper()
	w.cfg.Rules.HeldMaxInputs, w.cfg.Rules.HeldMaxAge = inputs, age
	w.again()
}

// gaveUp counts the inputs dropped for each reason.
func (w *world) gaveUp() map[events.DropReason]int {
	n := map[events.DropReason]int{}
	for _, d := range all[events.InputsDropped](w) {
		n[d.Reason] += len(d.Inputs)
	}
	return n
}

func (w *world) wantGivenUp(want map[events.DropReason]int) {
	w.t.Helper()
	synctest.Wait()
	if d := cmp.Diff(want, w.gaveUp()); d != "" {
		w.t.Errorf("given up (-want +got):\n%s", d)
	}
}

func none() map[events.DropReason]int { return map[events.DropReason]int{} }

func TestTooMuchHeldWorkIsGivenUpOldestFirstAndCanBeAskedAgain(t *testing.T) {
	var healed atomic.Bool
	bubble(t, func(w *world) {
		w.bounds(50, 0)
		first := w.capture("s", events.ToolUsed{Tool: "Read"}).Position
		w.work("s", 59)
		w.stopAgent("s") // 61 inputs
		w.wantGivenUp(map[events.DropReason]int{events.DropCrowded: 11})
		w.work("s", 3)
		w.wantGivenUp(map[events.DropReason]int{events.DropCrowded: 14})
		d := all[events.InputsDropped](w)
		if d[0].Inputs[0] != first {
			t.Errorf("the first given up is %d, want the oldest, %d", d[0].Inputs[0], first)
		}
		healed.Store(true)
		w.stopAgent("s")
		got := w.settled("s")
		if got.Dropped != 15 || got.Captured != 65 || got.Observed != 50 {
			t.Errorf("got %+v, want 15 of 65 dropped and the rest observed", got)
		}
		var lost []events.Position
		for _, d := range all[events.InputsDropped](w) {
			lost = append(lost, d.Inputs...)
		}
		if _, err := w.sys.Do(w.t.Context(), sid("s"), session.Reobserve{ID: w.sys.cfg.NewID(), At: time.Now(), Inputs: lost}); err != nil {
			t.Fatal(err)
		}
		if got := w.settled("s"); got.Observed != 65 {
			t.Errorf("asked again: %+v, want all 65 observed", got)
		}
	}, until(&healed, failing(events.FailLimit)))
}

// TestOldHeldWorkIsGivenUp holds two sessions for an hour: one whose turn failed, and one that was never asked.
func TestOldHeldWorkIsGivenUp(t *testing.T) {
	var healed atomic.Bool
	bubble(t, func(w *world) {
		w.bounds(0, time.Hour)
		w.asked("a")
		synctest.Wait()
		w.asked("b")
		time.Sleep(30 * time.Minute)
		w.asked("b")
		time.Sleep(30*time.Minute - time.Second)
		w.wantGivenUp(none())
		time.Sleep(2 * time.Second)
		if st, _ := w.sys.Status(w.t.Context()); st.Turns == 0 {
			w.wantGivenUp(map[events.DropReason]int{events.DropExpired: 4})
		}
		healed.Store(true)
		if got := w.settled("b"); got.Dropped != 2 || got.Observed != 2 {
			t.Errorf("got %+v, want the older two dropped and the younger observed", got)
		}
		if got := w.settled("a"); got.Dropped != 2 {
			t.Errorf("got %+v, want both dropped", got)
		}
	}, until(&healed, limitFor(90*time.Minute)))
}

func TestABacklogThatIsWorkedOnIsNotHeld(t *testing.T) {
	bubble(t, func(w *world) {
		w.bounds(10, 10*time.Second)
		w.work("s", 200)
		w.stopAgent("s")
		w.asked("t", "u", "v")
		for _, s := range []string{"s", "t", "u", "v"} {
			if got := w.settled(s); got.Observed != got.Captured {
				t.Errorf("session %s: %+v, want all observed", s, got)
			}
		}
		w.wantGivenUp(none())
	}, providertest.After(30*time.Second, good))
}

// TestADaemonThatWasOffAsksFirst: all that is held is far too old when it comes back, but the provider may be well again.
func TestADaemonThatWasOffAsksFirst(t *testing.T) {
	for name, answers := range map[string]bool{"it answers": true, "it still fails": false} {
		t.Run(name, func(t *testing.T) {
			var healed atomic.Bool
			bubble(t, func(w *world) {
				w.owing("a", "b")
				w.bounds(0, time.Hour)
				w.asked("a", "b")
				synctest.Wait()
				w.stopCleanly()
				time.Sleep(30 * 24 * time.Hour)
				healed.Store(answers)
				w.start()
				time.Sleep(time.Second)
				synctest.Wait()
				if answers {
					w.wantGivenUp(none())
					if a, b := w.settled("a"), w.settled("b"); a.Observed != 2 || b.Observed != 2 {
						t.Errorf("got %+v and %+v, want all observed", a, b)
					}
					return
				}
				w.wantGivenUp(map[events.DropReason]int{events.DropExpired: 4})
			}, until(&healed, failing(events.FailServer)))
		})
	}
}

// TestWorkThatWasNeverHeldIsYoungWhenTheTroubleBegins: the daemon was off for a month, and the first answer is a failure.
func TestWorkThatWasNeverHeldIsYoungWhenTheTroubleBegins(t *testing.T) {
	var healed atomic.Bool
	bubble(t, func(w *world) {
		w.owing("s")
		w.bounds(0, time.Hour)
		w.work("s", 3) // nobody asks yet
		w.stopCleanly()
		time.Sleep(30 * 24 * time.Hour)
		w.start()
		time.Sleep(20 * time.Minute)
		w.wantGivenUp(none())
		if !w.state("s").Owes() || len(all[events.ProviderPaused](w)) == 0 {
			t.Fatal("nothing is held")
		}
		healed.Store(true)
		if got := w.settled("s"); got.Observed != 4 {
			t.Errorf("got %+v, want three and their stop observed", got)
		}
	}, until(&healed, failing(events.FailOverload)))
}

// TestAPauseThatIsOverHoldsNobody: while the probe is out, and while others then wait for a slot, nothing is given up.
func TestAPauseThatIsOverHoldsNobody(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "f"}
	bubble(t, func(w *world) {
		w.cfg.Slots = 1
		w.bounds(0, 90*time.Second)
		w.asked(names...)
		for _, s := range names {
			if got := w.settled(s); got.Observed != 2 {
				t.Errorf("session %s: %+v, want both observed", s, got)
			}
		}
		w.wantGivenUp(none())
		if len(all[events.ProviderPaused](w)) != 1 {
			t.Error("the provider was not paused once: nothing is shown")
		}
	}, failing(events.FailServer), providertest.After(50*time.Second, good))
}

func TestAQuarantinedSessionHoldsABoundedAmount(t *testing.T) {
	var healed atomic.Bool
	bubble(t, func(w *world) {
		w.bounds(30, 0)
		w.work("s", 20)
		w.work("other", 10)
		time.Sleep(40 * time.Second)
		synctest.Wait()
		if len(all[events.SessionQuarantined](w)) == 0 {
			t.Fatal("no quarantine")
		}
		w.work("s", 25)
		w.wantGivenUp(map[events.DropReason]int{events.DropCrowded: 15})
		healed.Store(true)
		w.stopAgent("s")
		if got := w.settled("s"); got.Dropped < 15 || got.Dropped > 17 || got.Pending != 0 {
			t.Errorf("got %+v, want the rest settled", got)
		}
	}, until(&healed, providertest.Panic("boom")))
}

// TestAHoldOfALongTimeEndsInAShortLog: a provider that is gone for good costs a bounded number of events, not one an
// input and try.
func TestAHoldOfALongTimeEndsInAShortLog(t *testing.T) {
	bubble(t, func(w *world) {
		w.bounds(10, 24*time.Hour)
		for i := range 5 {
			w.asked(fmt.Sprint(i))
		}
		time.Sleep(3 * 24 * time.Hour)
		w.wantGivenUp(map[events.DropReason]int{events.DropExpired: 10})
		tried := len(all[events.TurnStarted](w))
		time.Sleep(30 * 24 * time.Hour)
		if n := len(all[events.TurnStarted](w)); n != tried {
			t.Errorf("%d turns more, though nothing is held any longer", n-tried)
		}
		for i := range 5 {
			if slices.Contains(kinds(w, fmt.Sprint(i)), events.KindSessionFaulted) || w.state(fmt.Sprint(i)).Owes() {
				t.Errorf("session %d still owes", i)
			}
		}
	}, failing(events.FailServer))
}

// TestAWishForAProviderThatIsNotThereIsRefused: there is one provider, and a wish that nobody heeds must not look heeded.
func TestAWishForAProviderThatIsNotThereIsRefused(t *testing.T) {
	bubble(t, func(w *world) {
		at := w.capture("s", events.ToolUsed{Tool: "Read"}).Position
		w.stopAgent("s")
		w.settled("s")
		ask := func(provider string) error {
			again := session.Reobserve{ID: w.sys.cfg.NewID(), At: time.Now(), Inputs: []events.Position{at}, Provider: provider}
			_, err := w.sys.Do(w.t.Context(), sid("s"), again)
			return err
		}
		if err := ask("careful"); !errors.Is(err, ErrNoProvider) || len(all[events.ReobserveRequested](w)) != 0 {
			t.Errorf("got %v and %+v, want ErrNoProvider and nothing recorded", err, all[events.ReobserveRequested](w))
		}
		for _, name := range []string{"", w.provider.Name()} {
			if err := ask(name); err != nil {
				t.Errorf("provider %q: %v", name, err)
			}
		}
	}, prose())
}
