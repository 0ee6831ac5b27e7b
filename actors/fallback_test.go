package actors

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/testkit/providertest"
)

// named is a provider of that name and model. Each input is a turn of its own.
func named(name, model string, steps ...providertest.Step) *providertest.Scripted {
	p := providertest.NewScripted(steps...)
	p.Called, p.Answering, p.Limits = name, model, policy.BatchLimits{MaxInputs: 1}
	return p
}

// providers begins a life with these, in this order.
func (w *world) providers(ps ...*providertest.Scripted) {
	w.t.Helper()
	w.cfg.Providers = nil
	for _, p := range ps {
		w.cfg.Providers = append(w.cfg.Providers, Route{Provider: p})
	}
	w.again()
}

// whom says of each turn whom it was asked of, and who was passed over: "b (not a)".
func (w *world) whom() []string {
	w.t.Helper()
	synctest.Wait()
	var whom []string
	for _, s := range all[events.TurnStarted](w) {
		said := s.Provider
		if s.Model != "" {
			said += "/" + s.Model
		}
		if len(s.Instead) > 0 {
			said += " (not " + strings.Join(s.Instead, ", ") + ")"
		}
		whom = append(whom, said)
	}
	return whom
}

func (w *world) wantWhom(want ...string) {
	w.t.Helper()
	if d := cmp.Diff(want, w.whom()); d != "" {
		w.t.Errorf("whom turns were asked of (-want +got):\n%s", d)
	}
}

func (w *world) status() Status {
	w.t.Helper()
	st, err := w.sys.Status(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return st
}

// rulings are those on a provider, by their kinds.
func (w *world) rulings(name string) (ks []events.Kind) {
	w.t.Helper()
	for r, err := range w.log.Stream(w.t.Context(), events.ProviderStream(name), 0) {
		if err != nil {
			w.t.Fatal(err)
		}
		ks = append(ks, r.Kind)
	}
	return ks
}

// TestAProviderThatRestsIsPassedOver: at once, in the order of the list, and it is asked again when a probe finds it well.
func TestAProviderThatRestsIsPassedOver(t *testing.T) {
	bubble(t, func(w *world) {
		w.providers(named("a", "", failing(events.FailLimit), good), named("b", "", good), named("c", "", good))
		w.work("s", 1)
		w.wantWhom("a", "b (not a)")
		st := w.status()
		if !st.Providers["a"].Paused || st.InUse != "b" || !cmp.Equal(st.Order, []string{"a", "b", "c"}) {
			t.Errorf("got %+v, want a paused and b in use", st)
		}
		w.work("s", 1)
		time.Sleep(time.Minute)
		if st := w.status(); st.InUse != "a" {
			t.Errorf("%s in use when the pause is over, want a to be probed", st.InUse)
		}
		w.work("s", 2)
		w.wantWhom("a", "b (not a)", "b (not a)", "a", "a")
		if d := cmp.Diff([]events.Kind{events.KindProviderPaused, events.KindProviderResumed}, w.rulings("a")); d != "" {
			t.Errorf("rulings on a (-want +got):\n%s", d)
		}
		if got := w.settled("s"); got.Observed != 4 || len(w.rulings("b"))+len(w.rulings("c")) != 0 {
			t.Errorf("got %+v, want all observed and nothing said of the others", got)
		}
	})
}

// TestWhileOneProbesTheOthersAreAskedOfTheNext: a half-open provider takes one turn at a time and keeps nobody waiting.
func TestWhileOneProbesTheOthersAreAskedOfTheNext(t *testing.T) {
	bubble(t, func(w *world) {
		slow := providertest.After(30*time.Second, good)
		w.providers(named("a", "", failing(events.FailServer), slow), named("b", "", good))
		w.work("s", 1)
		synctest.Wait()
		time.Sleep(time.Minute)
		w.work("s", 1)
		synctest.Wait()
		w.work("t", 2)
		w.wantWhom("a", "b (not a)", "a", "b (not a)", "b (not a)")
		if got := w.state("t").Balance(); got.Observed != 2 {
			t.Errorf("got %+v, want nobody to wait for the probe", got)
		}
		w.settled("s")
	})
}

// TestWhenAllRestTheFirstToWakeIsProbed: work is held meanwhile, and everybody is told since when.
func TestWhenAllRestTheFirstToWakeIsProbed(t *testing.T) {
	bubble(t, func(w *world) {
		a := named("a", "", limitFor(25*time.Minute), good)
		b := named("b", "", limitFor(20*time.Minute), good)
		w.cfg.Rules.HeldMaxInputs = 2
		w.providers(a, b)
		w.work("s", 1)
		synctest.Wait()
		w.work("t", 2)
		synctest.Wait()
		if st := w.status(); st.InUse != "" || st.Queued != 2 {
			t.Errorf("got %+v, want two sessions that wait, and nobody in use", st)
		}
		w.wantGivenUp(none())
		synctest.Wait()
		w.work("t", 1) // one more than may be held
		w.wantGivenUp(map[events.DropReason]int{events.DropCrowded: 1})
		time.Sleep(20 * time.Minute)
		w.work("t", 1)
		if got := w.settled("t"); got.Observed != 3 || a.Calls() != 1 {
			t.Errorf("got %+v and %d calls of a, want b alone asked after twenty minutes", got, a.Calls())
		}
		if got := w.settled("s"); got.Observed != 1 {
			t.Errorf("got %+v, want it observed", got)
		}
		time.Sleep(5 * time.Minute)
		w.work("s", 1)
		if w.settled("s"); a.Calls() != 2 {
			t.Errorf("%d calls of a after twenty-five minutes, want it preferred again", a.Calls())
		}
	})
}

// TestAHoldBeginsWhenTheLastProviderIsLost: that one of two rested already makes an input no older.
func TestAHoldBeginsWhenTheLastProviderIsLost(t *testing.T) {
	bubble(t, func(w *world) {
		var well atomic.Bool
		well.Store(true)
		w.cfg.Rules.HeldMaxAge, w.cfg.Rules.IdleStop = 4*time.Hour, 24*time.Hour
		a, b := named("a", "", limitFor(24*time.Hour)), named("b", "", until(&well, limitFor(24*time.Hour)))
		a.Limits = policy.BatchLimits{MaxAge: 2 * time.Hour}
		w.providers(a, b)
		w.asked("s")
		w.settled("s")
		w.work("s", 1)
		well.Store(false)
		time.Sleep(2 * time.Hour) // it is asked of b, which fails: it is held from now on
		w.wantWhom("a", "b (not a)", "b (not a)", "b (not a)")
		time.Sleep(4*time.Hour - 2*time.Second)
		w.wantGivenUp(none())
		time.Sleep(4 * time.Second)
		w.wantGivenUp(map[events.DropReason]int{events.DropExpired: 1})
	})
}

// TestWhatWasRuledOnIsNotRuledOnAgain: that another provider was never ruled on makes no failure new.
func TestWhatWasRuledOnIsNotRuledOnAgain(t *testing.T) {
	bubble(t, func(w *world) {
		w.providers(named("a", "", failing(events.FailServer), good), named("b", "", good))
		w.work("s", 1)
		w.settled("s")
		time.Sleep(time.Minute)
		w.work("s", 1)
		w.settled("s")
		w.again()
		if d := cmp.Diff([]events.Kind{events.KindProviderPaused, events.KindProviderResumed}, w.rulings("a")); d != "" {
			t.Errorf("rulings on a (-want +got):\n%s", d)
		}
	})
}

// TestACrashBetweenAFailureAndItsPauseIsMendedForEachProvider: each is ruled on, once, before anybody is let in.
func TestACrashBetweenAFailureAndItsPauseIsMendedForEachProvider(t *testing.T) {
	bubble(t, func(w *world) {
		a, b := named("a", "", failing(events.FailLimit), good), named("b", "", failing(events.FailOverload), good)
		w.providers(a, b)
		w.losePauses(1)
		w.work("s", 1)
		synctest.Wait()
		w.kill()
		if len(all[events.ProviderPaused](w)) != 0 || len(all[events.TurnFailed](w)) != 2 {
			t.Fatalf("the crash point was missed: %v", w.whom())
		}
		w.over = nil
		w.start()
		w.work("t", 1)
		synctest.Wait()
		p, f := all[events.ProviderPaused](w), all[events.TurnFailed](w)
		if len(p) != 2 || p[0].Turn != f[0].Turn || p[1].Turn != f[1].Turn || p[0].Class != events.FailLimit || a.Calls()+b.Calls() != 2 {
			t.Errorf("got %+v after %d calls, want both pauses and nobody asked", p, a.Calls()+b.Calls())
		}
		w.owing("s", "t")
		w.again()
		if s, u := w.settled("s"), w.settled("t"); s.Observed != 1 || u.Observed != 1 || len(all[events.ProviderPaused](w)) != 2 {
			t.Errorf("got %+v and %+v, want all observed after two pauses", s, u)
		}
	})
}

// TestAPauseOutlivesTheDaemonForItsProviderAlone: the next life begins with the second.
func TestAPauseOutlivesTheDaemonForItsProviderAlone(t *testing.T) {
	bubble(t, func(w *world) {
		w.providers(named("a", "", limitFor(time.Hour), good), named("b", "", good))
		w.work("s", 1)
		w.settled("s")
		w.again()
		w.work("s", 1)
		w.wantWhom("a", "b (not a)", "b (not a)")
	})
}

func TestSummariesHaveATier(t *testing.T) {
	bubble(t, func(w *world) {
		w.cfg.Summaries = &Route{Provider: named("a", "large", good, failing(events.FailLimit), good)}
		w.providers(named("a", "small", good), named("b", "", good))
		w.asked("s")
		w.settled("s")
		w.wantWhom("a/small", "a/large")
		w.asked("s")
		w.settled("s") // both models of a share one circuit
		w.wantWhom("a/small", "a/large", "a/small", "a/large", "b (not a)")
		w.asked("s")
		w.settled("s")
		if got := w.whom()[5:]; !cmp.Equal(got, []string{"b (not a)", "b (not a)"}) {
			t.Errorf("got %v, want one circuit for both models", got)
		}
	})
}

// listings is the tier's test in these tests: each input is a listing.
func listings(inputs []observer.Input) bool {
	for _, in := range inputs {
		if u, ok := in.Event.(events.ToolUsed); !ok || u.Tool != "LS" {
			return false
		}
	}
	return true
}

func TestTrivialInputsHaveATier(t *testing.T) {
	bubble(t, func(w *world) {
		cheap := named("cheap", "", good, failing(events.FailLimit), good)
		w.cfg.Trivial, w.cfg.IsTrivial = &Route{Provider: cheap}, listings
		w.providers(named("a", "", good))
		list := func() { w.capture("s", events.ToolUsed{Tool: "LS"}); synctest.Wait() }
		list()
		w.work("s", 1)
		w.wantWhom("cheap", "a")
		list()
		w.wantWhom("cheap", "a", "cheap", "a") // it failed, and rests
		list()
		time.Sleep(time.Minute)
		list() // it is half open: it is no time to save
		w.wantWhom("cheap", "a", "cheap", "a", "a", "a")
		if st := w.status(); !cmp.Equal(st.Order, []string{"a", "cheap"}) || st.InUse != "a" {
			t.Errorf("got %+v, want the tier behind the list and a in use", st)
		}
	})
}

// TestAProbeThatIsNotUsedIsGivenBack: the turn proved trivial and was asked elsewhere. The next one probes.
func TestAProbeThatIsNotUsedIsGivenBack(t *testing.T) {
	bubble(t, func(w *world) {
		slow := providertest.After(20*time.Second, good)
		a := named("a", "", failing(events.FailServer), good)
		w.cfg.Trivial, w.cfg.IsTrivial = &Route{Provider: named("cheap", "", slow)}, listings
		w.providers(a)
		w.work("s", 1)
		synctest.Wait()
		w.stopCleanly()
		w.forgetAll("s")
		w.start()
		w.capture("t", events.ToolUsed{Tool: "LS"})
		time.Sleep(time.Minute) // t is let in as the probe, and asks elsewhere
		synctest.Wait()
		if a.Calls() != 1 || w.status().Turns != 1 {
			t.Fatalf("%d calls of a and %+v, want the trivial turn out", a.Calls(), w.status())
		}
		w.work("u", 1)
		synctest.Wait()
		if a.Calls() != 2 || len(w.rulings("a")) != 2 {
			t.Errorf("%d calls of a, rulings %v; want it probed beside the trivial turn", a.Calls(), w.rulings("a"))
		}
		w.settled("t")
	})
}

// TestAFreshGenerationIsAskedOfTheNext: it would not help to ask the same one again.
func TestAFreshGenerationIsAskedOfTheNext(t *testing.T) {
	bubble(t, func(w *world) {
		w.cfg.Rules.Outputs = &policy.Unparseable{}
		w.providers(named("a", "", prose()), named("b", "", good))
		w.work("s", 5)
		w.settled("s")
		w.wantWhom("a", "a", "a", "a", "a", "b")
		w.work("s", 1)
		w.settled("s")
		w.wantWhom("a", "a", "a", "a", "a", "b", "a") // something was kept since
	})
}

func TestAPersonNamesTheProvider(t *testing.T) {
	bubble(t, func(w *world) {
		w.cfg.Summaries = &Route{Provider: named("c", "", good)}
		w.providers(named("a", "", prose()), named("b", "", failing(events.FailServer), prose()))
		at := w.capture("s", events.ToolUsed{Tool: "Read"}).Position
		w.settled("s")
		again := session.Reobserve{ID: w.sys.cfg.NewID(), At: time.Now(), Inputs: []events.Position{at}, Provider: "d"}
		if _, err := w.sys.Do(w.t.Context(), sid("s"), again); !errors.Is(err, ErrNoProvider) {
			t.Errorf("got %v, want ErrNoProvider", err)
		}
		w.reobserve("s", "b", at)
		w.wantWhom("a", "b") // it failed, and nobody else is asked instead
		time.Sleep(time.Minute)
		w.wantWhom("a", "b", "b")
		w.reobserve("s", "c", at)
		w.wantWhom("a", "b", "b", "c")
	})
}

// TestWhatIsDueMayChangeWhileItIsWaitedFor: who waited to have its work observed may have a summary due when a slot is free.
func TestWhatIsDueMayChangeWhileItIsWaitedFor(t *testing.T) {
	bubble(t, func(w *world) {
		w.cfg.Slots = 1
		w.cfg.Summaries = &Route{Provider: named("c", "", good)}
		w.providers(named("a", "", prose(), providertest.After(10*time.Second, good)), named("b", "", good))
		w.work("s", 1)
		w.settled("s")
		w.work("hog", 1)
		synctest.Wait()
		at := all[events.TurnStarted](w)[0].Settles
		w.stopAgent("s")
		w.reobserve("s", "", at...)
		w.reobserve("s", "b", at...)
		w.settled("s")
		w.settled("hog")
		w.wantWhom("a", "a", "b", "c")
	})
}

// TestWhoWaitsForOneMayBeServedByAnother once a person names it.
func TestWhoWaitsForOneMayBeServedByAnother(t *testing.T) {
	bubble(t, func(w *world) {
		w.cfg.Summaries = &Route{Provider: named("c", "", good)}
		w.providers(named("a", "", limitFor(time.Hour), good))
		at := w.capture("s", events.ToolUsed{Tool: "Read"}).Position
		synctest.Wait()
		w.reobserve("s", "c", at)
		w.wantWhom("a", "c")
	})
}

// TestAWishNeedNotWaitForWorkThatIsHeld: while nobody may be asked about new work, what a person asked another provider for
// is done, and the new work once its provider is back.
func TestAWishNeedNotWaitForWorkThatIsHeld(t *testing.T) {
	bubble(t, func(w *world) {
		w.cfg.Summaries = &Route{Provider: named("c", "", limitFor(time.Minute), good)}
		w.providers(named("a", "", prose(), limitFor(time.Hour), good))
		at := w.capture("s", events.ToolUsed{Tool: "Read"}).Position
		w.settled("s")
		w.work("s", 1)
		time.Sleep(time.Minute)
		w.wantWhom("a", "a")
		w.reobserve("s", "c", at)
		w.wantWhom("a", "a", "c") // which rests as well, then
		time.Sleep(2 * time.Minute)
		w.wantWhom("a", "a", "c", "c")
		if got := w.state("s").Balance(); got.Pending != 1 {
			t.Errorf("got %+v, want the new work alone to wait", got)
		}
		w.settled("s")
		w.wantWhom("a", "a", "c", "c", "a", "c") // the last is the summary
	})
}

// reobserve asks for inputs again.
func (w *world) reobserve(name, provider string, at ...events.Position) {
	w.t.Helper()
	cmd := session.Reobserve{ID: w.sys.cfg.NewID(), At: time.Now(), Inputs: at, Provider: provider}
	if _, err := w.sys.Do(w.t.Context(), sid(name), cmd); err != nil {
		w.t.Fatal(err)
	}
}

// TestALeaseForSomethingElseIsGivenBack: it was granted while what is due was about to change.
func TestALeaseForSomethingElseIsGivenBack(t *testing.T) {
	bubble(t, func(w *world) {
		h := w.hooked()
		w.cfg.Slots = 1
		w.providers(named("a", "", providertest.After(10*time.Second, good)), named("b", "", good))
		w.work("hog", 1)
		synctest.Wait()
		at := w.capture("s", events.ToolUsed{Tool: "Read"}).Position
		time.Sleep(9 * time.Second)
		h.onAppend = func(s events.StreamID) {
			if s == sid("s").Stream() {
				time.Sleep(5 * time.Second) // the lease comes meanwhile
			}
		}
		w.reobserve("s", "b", at)
		w.settled("s")
		w.settled("hog")
		w.wantWhom("a", "b")
	})
}

// TestWhetherAFreshObserverHelpsIsForWhoeverAnsweredToSay, not for the first of the list.
func TestWhetherAFreshObserverHelpsIsForWhoeverAnsweredToSay(t *testing.T) {
	bubble(t, func(w *world) {
		w.cfg.Rules.Outputs = &policy.Unparseable{}
		a := named("a", "", limitFor(24*time.Hour))
		a.Limits.Fixed = true
		w.providers(a, named("b", "", prose()))
		w.work("s", 6)
		w.settled("s")
		if n := len(all[events.SessionRespawned](w)); n != 1 {
			t.Errorf("%d fresh generations, want one: b may answer otherwise", n)
		}
	})
}

// TestWhoOnlyCrashesIsPassedOver: nobody pauses for a crash, so each probe of a quarantine is asked of the next of the list.
func TestWhoOnlyCrashesIsPassedOver(t *testing.T) {
	bubble(t, func(w *world) {
		boom := providertest.Crash(&observer.Crash{Message: "killed"})
		w.providers(named("a", "", boom), named("b", "", boom), named("c", "", good))
		w.work("s", 1)
		w.stopAgent("s")
		if got := w.settled("s"); got.Observed != 2 {
			t.Errorf("got %+v, want both observed", got)
		}
		whom := w.whom()
		if d := cmp.Diff([]string{"b", "c"}, slices.Compact(whom)[1:3]); d != "" || whom[0] != "a" {
			t.Errorf("turns were asked of %v", whom)
		}
		if n := len(all[events.SessionQuarantined](w)); n < 2 {
			t.Errorf("%d quarantines, want one for a and one for b", n)
		}
	})
}
