package actors

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/testkit/providertest"
)

// costs answers as good does, and says that it took so many tokens and cost so much.
func costs(tokens int64, usd float64) providertest.Step {
	return func(ctx context.Context, n int, p observer.Prompt) (observer.Reply, error) {
		r, err := good(ctx, n, p)
		r.Usage, r.Cost = events.Usage{Input: tokens - 1, Output: 1}, usd
		return r, err
	}
}

// spentOf reads from a log what a view of it would say.
func spentOf(ctx context.Context, log eventlog.Log, from time.Time, id *events.SessionID) (tokens int64, usd float64, err error) {
	for r, err := range log.All(ctx, 0) {
		if err != nil {
			return 0, 0, err
		}
		s, ok := r.Stream.Session()
		if !ok || r.OccurredAt.Before(from) || id != nil && s != *id {
			continue
		}
		switch r.Kind {
		case events.KindTurnReceived:
			e := eventOf[events.TurnReceived](r)
			tokens, usd = tokens+e.Usage.Input+e.Usage.Output, usd+e.Cost
		case events.KindTurnFailed:
			e := eventOf[events.TurnFailed](r)
			tokens, usd = tokens+e.Usage.Input+e.Usage.Output, usd+e.Cost
		}
	}
	return tokens, usd, nil
}

// budget begins a life with a budget and these providers, each input a turn of its own.
func (w *world) budget(b policy.Budget, ps ...*providertest.Scripted) {
	w.t.Helper()
	w.cfg.Budget = b
	if w.cfg.Spent == nil {
		w.cfg.Spent = func(ctx context.Context, from time.Time, id *events.SessionID) (int64, float64, error) {
			return spentOf(ctx, w.log, from, id)
		}
	}
	w.providers(ps...)
}

// wantBudget looks at what the status says of the budget.
func (w *world) wantBudget(state policy.BudgetState, limit string, part float64, held int) {
	w.t.Helper()
	synctest.Wait()
	b := w.status().Budget
	if b == nil || b.State != state || b.Limit != limit || b.Part != part || b.Held != held {
		w.t.Errorf("got %+v, want %s by %q at %v with %d held", b, state, limit, part, held)
	}
}

func (w *world) wantObserved(name string, n int) {
	w.t.Helper()
	synctest.Wait()
	if got := w.state(name).Balance(); got.Observed != n {
		w.t.Errorf("session %s: %+v, want %d observed", name, got, n)
	}
}

// TestABudgetOfADay: exactly reached is reached, four fifths are said, and the next day goes on.
func TestABudgetOfADay(t *testing.T) {
	for name, c := range map[string]struct {
		budget policy.Budget
		limit  string
	}{
		"tokens": {policy.Budget{TokensDay: 1000}, policy.LimitTokensDay},
		"money":  {policy.Budget{USDDay: 5}, policy.LimitUSDDay},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				time.Sleep(18 * time.Hour)
				a := named("a", "", costs(200, 1))
				w.budget(c.budget, a)
				w.work("s", 3)
				w.wantBudget(policy.BudgetFree, "", 0, 0)
				w.work("s", 1)
				w.wantBudget(policy.BudgetWarn, c.limit, 0.8, 0)
				w.work("s", 1)
				synctest.Wait()
				w.work("t", 1)
				w.wantBudget(policy.BudgetSpent, c.limit, 1, 1)
				_, midnight := policy.Day(time.Now())
				if b := w.status().Budget; !b.Until.Equal(midnight) || w.status().InUse != "" || !b.Known {
					t.Errorf("got %+v, want a hold until midnight and nobody in use", b)
				}
				w.owing("s", "t")
				w.again() // a restart grants no more
				w.kill()
				w.start()
				w.work("s", 1)
				synctest.Wait()
				w.wantBudget(policy.BudgetSpent, c.limit, 1, 2)
				if a.Calls() != 5 {
					t.Errorf("%d calls, want five and none by a restart", a.Calls())
				}
				time.Sleep(time.Until(midnight) - time.Second)
				if synctest.Wait(); a.Calls() != 5 {
					t.Errorf("%d calls before midnight, want five", a.Calls())
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if b := w.status().Budget; b.Held != 0 || b.State == policy.BudgetSpent || a.Calls() < 7 {
					t.Errorf("%d calls and %+v, want what was held to be asked on the next day", a.Calls(), b)
				}
				w.settled("s")
				w.settled("t")
			})
		})
	}
}

// TestABudgetOfASession holds that session alone, whatever the day.
func TestABudgetOfASession(t *testing.T) {
	for name, c := range map[string]struct {
		budget policy.Budget
		limit  string
	}{
		"tokens": {policy.Budget{TokensSession: 400}, policy.LimitTokensSession},
		"money":  {policy.Budget{USDSession: 2, USDDay: 1000}, policy.LimitUSDSession},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.budget(c.budget, named("a", "", costs(200, 1)))
				w.work("s", 3)
				w.work("t", 1)
				w.wantObserved("s", 2)
				w.wantObserved("t", 1)
				w.wantBudget(policy.BudgetSpent, c.limit, 1, 1)
				b := w.status().Budget
				if l := b.Limits[len(b.Limits)-1]; !b.Until.IsZero() || l.Session == nil || *l.Session != sid("s") {
					t.Errorf("got %+v, want no end, and the session named", b)
				}
				w.owing("s")
				w.again()
				time.Sleep(3 * 24 * time.Hour)
				w.wantObserved("s", 2)
				w.cfg.Budget = policy.Budget{TokensSession: 4000}
				w.again() // somebody raised it
				if got := w.settled("s"); got.Observed < 3 {
					t.Errorf("got %+v, want it to go on when the limit is raised", got)
				}
			})
		})
	}
}

// TestAFreeProviderServesWhenTheBudgetIsSpent, and what costs is named as passed over.
func TestAFreeProviderServesWhenTheBudgetIsSpent(t *testing.T) {
	bubble(t, func(w *world) {
		w.budget(policy.Budget{TokensDay: 100}, named("a", "", costs(100, 0)), named("b", "", good))
		w.cfg.Providers[1].Free = true
		w.again()
		w.work("s", 2)
		w.wantWhom("a", "b (not a)")
		w.wantBudget(policy.BudgetSpent, policy.LimitTokensDay, 1, 0)
		if st := w.status(); st.InUse != "b" {
			t.Errorf("%s in use, want the free one", st.InUse)
		}
	})
}

// TestASessionsOwnBudgetIsNoNewsOfTheProviders: turns of one session go to who stands in, those of others do not, and that
// is said once for the budget, not at each turn. The day's budget is news.
func TestASessionsOwnBudgetIsNoNewsOfTheProviders(t *testing.T) {
	bubble(t, func(w *world) {
		w.budget(policy.Budget{TokensSession: 100, TokensDay: 300}, named("a", "", costs(100, 0)), named("b", "", good))
		w.cfg.Providers[1].Free = true
		w.again()
		for _, name := range []string{"s", "s", "t", "s", "t"} {
			w.work(name, 1)
			synctest.Wait()
		}
		w.wantWhom("a", "b (not a)", "a", "b (not a)", "b (not a)")
		if n := w.logged.count("another provider is asked"); n != 0 {
			t.Errorf("said %d times that another provider is asked, want never: it is two sessions' own budget", n)
		}
		w.work("u", 1)
		synctest.Wait()
		w.work("v", 2)
		w.wantObserved("v", 2)
		if n := w.logged.count("another provider is asked"); n != 1 {
			t.Errorf("said %d times that another provider is asked, want once when the day's is used up", n)
		}
	})
}

// TestNobodyStandsInWhileTheSpendingIsRead: the first turn after a start, and of each session, is for the one that is preferred;
// who costs nothing serves once the reading has failed.
func TestNobodyStandsInWhileTheSpendingIsRead(t *testing.T) {
	bubble(t, func(w *world) {
		var well atomic.Bool
		well.Store(true)
		w.cfg.Spent = func(ctx context.Context, from time.Time, id *events.SessionID) (int64, float64, error) {
			if !well.Load() {
				return 0, 0, errBoom
			}
			time.Sleep(time.Second)
			return spentOf(ctx, w.log, from, id)
		}
		w.budget(policy.Budget{TokensDay: 1000, TokensSession: 1000}, named("a", "", costs(100, 0)), named("b", "", good))
		w.cfg.Providers[1].Free = true
		w.again()
		for _, name := range []string{"s", "t"} {
			w.work(name, 1)
			time.Sleep(3 * time.Second)
			w.wantObserved(name, 1)
		}
		w.wantWhom("a", "a")
		well.Store(false)
		w.work("u", 1)
		w.wantObserved("u", 1)
		w.wantWhom("a", "a", "b (not a)")
	})
}

// TestWhatATurnThatFailedUsedIsPaid, probes among them; a model's price counts where none is stated.
func TestWhatATurnThatFailedUsedIsPaid(t *testing.T) {
	bubble(t, func(w *world) {
		failed := providertest.Fail(observer.Failure{Class: events.FailServer, Bill: events.Bill{Usage: events.Usage{Input: 60}}})
		w.cfg.Price = func(provider, asked string, b events.Bill) float64 {
			if provider != "a" || asked != "large" || b.Stated() || b.Model != "" {
				t.Errorf("the price of %s/%s was asked for %+v", provider, asked, b)
			}
			return float64(b.Usage.Input) / 60
		}
		a := named("a", "large", failed)
		w.budget(policy.Budget{USDDay: 3}, a)
		w.work("s", 1)
		time.Sleep(5 * time.Minute)
		if synctest.Wait(); a.Calls() != 3 {
			t.Errorf("%d calls, want three dollars' worth of failures", a.Calls())
		}
		w.wantBudget(policy.BudgetSpent, policy.LimitUSDDay, 1, 1)
	})
}

// TestACrashThatWasPaidForIsCounted: a child that died may have said before what it had used.
func TestACrashThatWasPaidForIsCounted(t *testing.T) {
	bubble(t, func(w *world) {
		dies := func(context.Context, int, observer.Prompt) (observer.Reply, error) {
			return observer.Reply{Bill: events.Bill{Usage: events.Usage{Input: 70}, Cost: 0.5, Calls: 2, Model: "large"}}, errBoom
		}
		w.budget(policy.Budget{TokensDay: 1000}, named("a", "small", dies, good))
		w.work("s", 1)
		w.settled("s")
		f := all[events.TurnFailed](w)
		if len(f) != 1 || f[0].Class != events.FailCrash || f[0].Usage.Input != 70 || f[0].Cost != 0.5 || f[0].Calls != 2 || f[0].Model != "large" {
			t.Errorf("got %+v, want a crash that says what it cost", f)
		}
		if got := w.status().Budget.Limits[0].Used; got != 70 {
			t.Errorf("%v tokens used, want 70", got)
		}
	})
}

// TestUnknownSpendingHolds: nothing that costs is asked before it is known what was spent, and it is found out in the end.
func TestUnknownSpendingHolds(t *testing.T) {
	for name, fail := range map[string]func(ctx context.Context) error{
		"an error": func(context.Context) error { return errBoom },
		"a panic":  func(context.Context) error { panic("boom") },
		"no answer": func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		},
		"no heed": func(context.Context) error {
			time.Sleep(15 * time.Second)
			return errors.New("late")
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				var well atomic.Bool
				w.cfg.Spent = func(ctx context.Context, from time.Time, id *events.SessionID) (int64, float64, error) {
					if !well.Load() {
						return 0, 0, fail(ctx)
					}
					return spentOf(ctx, w.log, from, id)
				}
				a := named("a", "", costs(200, 1))
				w.budget(policy.Budget{TokensDay: 1000, TokensSession: 1000}, a)
				w.work("s", 1)
				time.Sleep(20 * time.Second)
				synctest.Wait()
				if b := w.status().Budget; a.Calls() != 0 || b.Known || b.Held != 1 {
					t.Errorf("%d calls and %+v, want the turn held: nobody knows what was spent", a.Calls(), b)
				}
				well.Store(true)
				time.Sleep(2 * time.Minute)
				w.wantObserved("s", 1)
				if b := w.status().Budget; !b.Known {
					t.Errorf("got %+v, want it known", b)
				}
			})
		})
	}
}

// TestWhatEndsWhileTheSpendingIsReadIsCountedOnce: it may be in what is read, or not.
func TestWhatEndsWhileTheSpendingIsReadIsCountedOnce(t *testing.T) {
	bubble(t, func(w *world) {
		var reads atomic.Int64
		w.cfg.Spent = func(ctx context.Context, from time.Time, id *events.SessionID) (int64, float64, error) {
			reads.Add(1)
			tokens, usd, err := spentOf(ctx, w.log, from, id)
			time.Sleep(2 * time.Second)
			return tokens, usd, err
		}
		w.budget(policy.Budget{TokensDay: 1000}, named("a", "", costs(300, 0)), named("b", "", costs(300, 0)))
		w.cfg.Providers[0].Free = true
		synctest.Wait()
		reads.Store(0)
		w.again()
		w.work("s", 1) // of the free one, which is preferred and need not wait; what it says that it cost counts
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if b := w.status().Budget; !b.Known || b.Limits[0].Used != 300 || reads.Load() < 2 {
			t.Errorf("got %+v after %d reads, want 300 used, read twice", b, reads.Load())
		}
	})
}

// TestATurnWhoseEndNobodyToldIsReadFromTheLog: its session crashed between the answer and the report to the dispatcher.
func TestATurnWhoseEndNobodyToldIsReadFromTheLog(t *testing.T) {
	bubble(t, func(w *world) {
		w.budget(policy.Budget{TokensDay: 1000}, named("a", "", costs(400, 0)))
		w.work("s", 1)
		w.settled("s")
		holder := w.sys.root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
		w.sys.root.Send(w.sys.dispatch, leaseRequest{session: sid("x"), holder: holder, requirement: provider.Requirement{Kind: events.TurnObservation}})
		synctest.Wait()
		before := w.status().Budget.Limits[0].Used
		paid := w.draft(events.TurnReceived{Usage: events.Usage{Input: 250}}) // in the log, and nobody tells
		if _, err := eventlog.AppendEnd(w.t.Context(), w.log, sid("x").Stream(), paid); err != nil {
			t.Fatal(err)
		}
		w.sys.root.Send(w.sys.dispatch, ended{holder: holder, End: provider.End{Crashed: true}})
		synctest.Wait()
		if after := w.status().Budget.Limits[0].Used; before != 400 || after != 650 {
			t.Errorf("used %v and then %v, want 400 and then 650, as the log says", before, after)
		}
		w.sys.root.Stop(holder)
	})
}

// TestABudgetIsReadOnce: what ends is added.
func TestABudgetIsReadOnce(t *testing.T) {
	bubble(t, func(w *world) {
		var days, sessions atomic.Int64
		w.cfg.Spent = func(ctx context.Context, from time.Time, id *events.SessionID) (int64, float64, error) {
			if id == nil {
				days.Add(1)
			} else {
				sessions.Add(1)
			}
			return spentOf(ctx, w.log, from, id)
		}
		w.budget(policy.Budget{TokensDay: 1e9, TokensSession: 1e9}, named("a", "", costs(10, 0)))
		synctest.Wait()
		days.Store(0)
		w.again()
		w.work("s", 20)
		w.work("t", 20)
		w.settled("s")
		w.settled("t")
		if d := cmp.Diff([]int64{1, 2}, []int64{days.Load(), sessions.Load()}); d != "" {
			t.Errorf("reads of the day and of sessions (-want +got):\n%s", d)
		}
		if b := w.status().Budget; b.Limits[0].Used != 400 || b.Limits[1].Used != 200 {
			t.Errorf("got %+v, want 400 and 200 used", b.Limits)
		}
	})
}

// TestABudgetBoundsWhatIsHeld, as a pause does.
func TestABudgetBoundsWhatIsHeld(t *testing.T) {
	bubble(t, func(w *world) {
		w.cfg.Rules.HeldMaxInputs = 3
		w.budget(policy.Budget{TokensSession: 10}, named("a", "", costs(10, 0)))
		w.work("s", 6)
		w.wantGivenUp(map[events.DropReason]int{events.DropCrowded: 2})
		w.cfg.Rules.HeldMaxInputs, w.cfg.Rules.HeldMaxAge = 0, 20*time.Minute
		w.owing("s")
		w.again()
		time.Sleep(21 * time.Minute)
		w.wantGivenUp(map[events.DropReason]int{events.DropCrowded: 2, events.DropExpired: 3})
	})
}

// TestAClockSetBackIntoYesterdayReadsAnew: what was spent then is not what was spent today.
func TestAClockSetBackIntoYesterdayReadsAnew(t *testing.T) {
	bubble(t, func(w *world) {
		var back atomic.Int64
		w.cfg.Now = func() time.Time { return time.Now().Add(-time.Duration(back.Load())) }
		time.Sleep(20 * time.Hour)
		w.budget(policy.Budget{TokensDay: 1e6}, named("a", "", costs(300, 0)))
		w.work("s", 2)
		w.settled("s")
		time.Sleep(5 * time.Hour)
		w.work("s", 1)
		synctest.Wait()
		if got := w.status().Budget.Limits[0].Used; got != 300 {
			t.Errorf("%v used on the second day, want 300", got)
		}
		back.Store(int64(3 * time.Hour))
		w.work("s", 1)
		w.settled("s")
		if got := w.status().Budget.Limits[0].Used; got < 900 {
			t.Errorf("%v used on the day that came back, want all since its midnight", got)
		}
	})
}

// TestYesterdaysTurnIsNoneOfToday: it ended before midnight, and was told after.
func TestYesterdaysTurnIsNoneOfToday(t *testing.T) {
	bubble(t, func(w *world) {
		w.budget(policy.Budget{TokensDay: 1000}, named("a", "", costs(300, 0)))
		_, midnight := policy.Day(time.Now())
		time.Sleep(time.Until(midnight) + time.Second)
		holder := w.sys.root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
		for _, at := range []time.Time{midnight.Add(-time.Second), midnight} {
			w.sys.root.Send(w.sys.dispatch, ended{holder: holder, End: provider.End{Spend: provider.Spend{Session: sid("s"), At: at, Tokens: 100}}})
		}
		synctest.Wait()
		if got := w.status().Budget.Limits[0].Used; got != 100 {
			t.Errorf("%v used today, want 100", got)
		}
		w.sys.root.Stop(holder)
	})
}

// TestWhatWasSpentOutlivesACrashOfTheDispatcher, though it cannot be read any more.
func TestWhatWasSpentOutlivesACrashOfTheDispatcher(t *testing.T) {
	bubble(t, func(w *world) {
		var armed, broken atomic.Bool
		w.cfg.Now = func() time.Time {
			if called("(*dispatcher).grant") && armed.CompareAndSwap(true, false) {
				panic("boom")
			}
			return time.Now()
		}
		w.cfg.Spent = func(ctx context.Context, from time.Time, id *events.SessionID) (int64, float64, error) {
			if broken.Load() {
				return 0, 0, errBoom
			}
			return spentOf(ctx, w.log, from, id)
		}
		w.budget(policy.Budget{TokensDay: 1000}, named("a", "", costs(300, 0)))
		w.work("s", 1)
		w.settled("s")
		broken.Store(true)
		armed.Store(true)
		w.work("s", 1)
		w.settled("s")
		if b := w.status().Budget; armed.Load() || !b.Known || b.Limits[0].Used != 600 {
			t.Errorf("got %+v, want 600 known to be used", b)
		}
	})
}

// TestAHoldByASessionsBudgetOutlivesMidnight: no day frees it, and it began when it began.
func TestAHoldByASessionsBudgetOutlivesMidnight(t *testing.T) {
	bubble(t, func(w *world) {
		w.cfg.Rules.HeldMaxAge = 30 * time.Hour
		w.budget(policy.Budget{TokensSession: 10}, named("a", "", costs(10, 0)))
		w.work("s", 1)
		w.settled("s")
		w.work("s", 1)
		time.Sleep(30*time.Hour - time.Second)
		w.wantGivenUp(none())
		time.Sleep(2 * time.Second)
		w.wantGivenUp(map[events.DropReason]int{events.DropExpired: 1})
	})
}
