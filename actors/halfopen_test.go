package actors

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/providertest"
)

// probes are the numbers of the provider's pauses so far, with a 0 for each resumption.
func (w *world) probes() (ns []int) {
	for r, err := range w.log.Stream(w.t.Context(), events.ProviderStream(w.provider.Name()), 0) {
		if err != nil {
			w.t.Fatal(err)
		}
		ns = append(ns, eventOf[events.ProviderPaused](r).Probe)
	}
	return ns
}

// TestOnlyAParsedTurnEndsTheDoubling: whatever else the provider answers to a probe lets the next turn in at once, and the
// next failure counts on.
func TestOnlyAParsedTurnEndsTheDoubling(t *testing.T) {
	limit := failing(events.FailLimit)
	for name, c := range map[string]struct {
		answer providertest.Step
		want   []int // rulings: a limit, the answer, a limit, the answer, a limit, good
	}{
		"prose":                   {prose(), []int{1, 2, 3, 0}},
		"malformed":               {providertest.Text("<observation></observation>"), []int{1, 2, 3, 0}},
		"blank":                   {providertest.Text(""), []int{1, 2, 3, 0}},
		"refused":                 {failing(events.FailRefused), []int{1, 2, 3, 0}},
		"too long":                {failing(events.FailOverflow), []int{1, 2, 3, 0}},
		"cut":                     {failing(events.FailTruncated), []int{1, 2, 3, 0}},
		"a crash":                 {providertest.Panic("boom"), []int{1, 2, 3, 0}},
		"a skip in so many words": {providertest.Text("<skip_summary/>"), []int{1, 0, 1, 0, 1, 0}},
		"kept":                    {good, []int{1, 0, 1, 0, 1, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				for _, s := range []string{"a", "b", "c", "d"} {
					w.asked(s)
					w.settled(s)
				}
				if d := cmp.Diff(c.want, w.probes()); d != "" {
					t.Errorf("pauses in a row; 0 is a resumption (-want +got):\n%s", d)
				}
			}, limit, c.answer, limit, c.answer, limit, good)
		})
	}
}

// TestAHalfOpenProviderIsAskedOneAtATime: a pause that is over blocks nothing, and nothing is flung at who has yet to
// show that it is well. It is no hold.
func TestAHalfOpenProviderIsAskedOneAtATime(t *testing.T) {
	paused := func(w *world) provider.Paused {
		st, err := w.sys.Status(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		return st.Providers[w.provider.Name()]
	}
	bubble(t, func(w *world) {
		w.asked("a")
		if w.calls(); !paused(w).Paused {
			t.Error("a provider that rests is not said to")
		}
		w.asked("b", "c", "d")
		time.Sleep(time.Minute)
		began := w.calls()
		for n := range 5 {
			time.Sleep(10 * time.Second)
			synctest.Wait()
			if got := w.calls() - began; got != n+1 || w.provider.Running() != 1 {
				t.Fatalf("%d more calls and %d running after %d answers, want one at a time, one after the other", got, w.provider.Running(), n+1)
			}
		}
		if p := paused(w); p.Paused || p.Probe != 1 {
			t.Errorf("got %+v, want no pause and its number", p)
		}
	}, failing(events.FailServer), providertest.After(10*time.Second, prose()))
}

// TestAHalfOpenProviderOutlivesTheDaemon: the next failure counts on from what the log says.
func TestAHalfOpenProviderOutlivesTheDaemon(t *testing.T) {
	bubble(t, func(w *world) {
		w.asked("a")
		w.settled("a")
		w.again()
		w.asked("b")
		synctest.Wait()
		if d := cmp.Diff([]int{1, 2}, w.probes()); d != "" {
			t.Errorf("pauses in a row (-want +got):\n%s", d)
		}
	}, failing(events.FailServer), prose(), prose(), failing(events.FailServer), good)
}

// TestAClockSetBackStopsNoProvider: how much of a pause is over nobody knows then; a probe tells.
func TestAClockSetBackStopsNoProvider(t *testing.T) {
	var back atomic.Int64
	bubble(t, func(w *world) {
		w.cfg.Now = func() time.Time { return time.Now().Add(-time.Duration(back.Load())) }
		w.again()
		w.asked("a")
		if w.calls() != 1 {
			t.Fatal("the limit holds nothing")
		}
		back.Store(int64(5 * 24 * time.Hour))
		w.asked("b")
		if n := w.calls(); n < 2 {
			t.Errorf("%d calls after the clock was set back by five days, want a probe", n)
		}
		if got := w.settled("b"); got.Observed != 2 {
			t.Errorf("got %+v, want all observed", got)
		}
	}, limitFor(2*time.Hour), good)
}
