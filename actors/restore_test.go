package actors

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/providertest"
)

// losePauses begins a life in which no pause from the nth on reaches the disk: it dies between a session's TurnFailed
// and the ruling.
func (w *world) losePauses(n int) {
	h := w.hooked()
	h.onDrafts = func(ds []events.Draft) error {
		if e, ok := ds[0].Event.(events.ProviderPaused); ok && e.Probe >= n {
			return eventlog.ErrFailed
		}
		return nil
	}
}

// TestAPauseThatACrashSwallowedIsDerivedBeforeAnybodyIsLetIn: whoever asks first in the next life.
func TestAPauseThatACrashSwallowedIsDerivedBeforeAnybodyIsLetIn(t *testing.T) {
	bubble(t, func(w *world) {
		w.losePauses(1)
		w.asked("a")
		synctest.Wait()
		w.kill()
		if len(all[events.ProviderPaused](w)) != 0 || len(all[events.TurnFailed](w)) != 1 {
			t.Fatal("the crash point was missed")
		}
		w.over = nil
		w.start()
		w.asked("b")
		if n := w.calls(); n != 1 {
			t.Errorf("%d calls, want the pause to hold another session", n)
		}
		got, failed := all[events.ProviderPaused](w), all[events.TurnFailed](w)
		if len(got) != 1 || got[0].Class != events.FailOverload || got[0].Turn != failed[0].Turn || got[0].Probe != 1 {
			t.Errorf("got %+v, want the pause that the failed turn implies", got)
		}
		w.owing("a", "b")
		w.again()
		if a, b := w.settled("a"), w.settled("b"); a.Observed != 2 || b.Observed != 2 || len(all[events.ProviderPaused](w)) != 1 {
			t.Errorf("got %+v, %+v and %d pauses, want all observed after the one", a, b, len(all[events.ProviderPaused](w)))
		}
	}, failing(events.FailOverload), good)
}

// TestALostFailureOfAProbeIsDerived: the pause before it is over, and the next one is twice as long.
func TestALostFailureOfAProbeIsDerived(t *testing.T) {
	bubble(t, func(w *world) {
		w.losePauses(2)
		w.asked("a")
		time.Sleep(61 * time.Second)
		if w.calls() != 2 || len(all[events.ProviderPaused](w)) != 1 {
			t.Fatal("the crash point was missed")
		}
		w.kill()
		w.over = nil
		w.start()
		w.asked("b")
		if got := all[events.ProviderPaused](w); len(got) != 2 || got[1].Probe != 2 || w.calls() != 2 {
			t.Errorf("got %+v after %d calls, want a second pause and nobody let in", got, w.calls())
		}
	}, failing(events.FailServer), failing(events.FailServer), good)
}

// TestAFailureThatWasNoProbeIsNotDerived: of two turns out together one meets the limit first and pauses; that the other
// fails later says nothing new, in this life or the next.
func TestAFailureThatWasNoProbeIsNotDerived(t *testing.T) {
	bubble(t, func(w *world) {
		w.asked("a", "b")
		time.Sleep(5 * time.Second)
		if len(all[events.TurnFailed](w)) != 2 {
			t.Fatal("not both have failed")
		}
		w.kill()
		w.start()
		w.asked("c")
		if got := all[events.ProviderPaused](w); len(got) != 1 || w.calls() != 2 {
			t.Errorf("got %+v after %d calls, want the one pause and nobody let in", got, w.calls())
		}
	}, providertest.After(time.Second, failing(events.FailLimit)), providertest.After(2*time.Second, failing(events.FailServer)), good)
}

// TestATurnThatBeganBehindItsPauseIsNoProbe: its lease was older than the pause, and reading its prompt took a while.
func TestATurnThatBeganBehindItsPauseIsNoProbe(t *testing.T) {
	bubble(t, func(w *world) {
		var slow atomic.Bool
		h := w.hooked()
		h.onGet = func(events.Position) error {
			if slow.CompareAndSwap(true, false) {
				time.Sleep(3 * time.Second)
			}
			return nil
		}
		w.asked("a")
		synctest.Wait()
		slow.Store(true)
		w.asked("b")
		time.Sleep(5 * time.Second)
		if len(all[events.TurnFailed](w)) != 2 || len(w.probes()) != 1 {
			t.Fatalf("%d failures and pauses %v, want two and one", len(all[events.TurnFailed](w)), w.probes())
		}
		w.kill()
		w.over = nil
		w.start()
		w.asked("c")
		if got := w.probes(); len(got) != 1 || w.calls() != 2 {
			t.Errorf("got pauses %v after %d calls, want the one and nobody let in", got, w.calls())
		}
	}, providertest.After(time.Second, failing(events.FailLimit)), failing(events.FailServer), good)
}

// TestThePauseOfAnotherProviderIsNoneOfItsBusiness: a person has chosen another one meanwhile.
func TestThePauseOfAnotherProviderIsNoneOfItsBusiness(t *testing.T) {
	bubble(t, func(w *world) {
		w.losePauses(1)
		w.asked("a")
		synctest.Wait()
		w.kill()
		w.over = nil
		w.provider.Called = "another"
		w.start()
		w.asked("b")
		if got := w.settled("b"); got.Observed != 2 || len(all[events.ProviderPaused](w)) != 0 {
			t.Errorf("got %+v, pauses %+v, want another provider asked at once", got, all[events.ProviderPaused](w))
		}
	}, failing(events.FailLimit), good)
}

// TestAnAnswerBeforeAPauseIsKnownInTheNextLife: turns that failed by their own fault before it are in no row with later ones.
func TestAnAnswerBeforeAPauseIsKnownInTheNextLife(t *testing.T) {
	refused := failing(events.FailRefused)
	bubble(t, func(w *world) {
		w.settings = map[string]string{"provider": w.provider.Name()}
		w.again()
		w.asked("a")
		synctest.Wait()
		w.asked("b", "c")
		if n := w.calls(); n != 6 || !slices.Equal(w.probes(), []int{1, 2}) {
			t.Fatalf("%d calls and pauses %v, want one for three refusals, and one for a limit behind two outputs", n, w.probes())
		}
		w.kill()
		w.owing("a", "b", "c")
		w.start()
		for _, name := range []string{"a", "b", "c"} {
			w.settled(name)
		}
		if d := cmp.Diff([]int{1, 2, 0}, w.probes()); d != "" {
			t.Errorf("pauses in a row; 0 is a resumption (-want +got):\n%s", d)
		}
		w.proved()
	}, refused, refused, refused, prose(), prose(), failing(events.FailLimit), refused, good)
}
