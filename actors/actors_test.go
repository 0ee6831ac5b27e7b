package actors

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
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

func TestAStopLeadsToAnObservationAndASummary(t *testing.T) {
	bubble(t, func(w *world) {
		w.capture("s", events.PromptSubmitted{Text: "make the retry budget a setting"})
		w.work("s", 3)
		w.capture("s", events.AgentStopped{Cause: events.StopDone, LastMessage: "Done."})
		synctest.Wait()
		want := []events.Kind{
			events.KindSessionOpened, events.KindPromptSubmitted, events.KindToolUsed, events.KindToolUsed, events.KindToolUsed,
			events.KindAgentStopped, events.KindTurnStarted, events.KindTurnReceived, events.KindObservationParsed,
			events.KindTurnStarted, events.KindTurnReceived, events.KindSummaryParsed,
		}
		if d := cmp.Diff(want, kinds(w, "s")); d != "" {
			t.Errorf("stream (-want +got):\n%s", d)
		}
		if got, want := w.state("s").Balance(), (session.Balance{Captured: 4, Observed: 4}); got != want {
			t.Errorf("balance %+v, want %+v", got, want)
		}
		p := w.provider.Prompts()[0]
		if p.Request != "make the retry budget a setting" || p.Message != "Done." || len(p.Inputs) != 3 || p.Project != "p" {
			t.Errorf("the prompt lacks what it stands on: %+v", p)
		}
		if s := w.provider.Prompts()[1]; len(s.Observed) != 1 || s.Message != "Done." {
			t.Errorf("the summary's prompt lacks what it stands on: %+v", s)
		}
		o := all[events.ObservationParsed](w)[0]
		if d := cmp.Diff([]string{"/p/a.go"}, o.FilesModified); d != "" {
			t.Errorf("files modified (-want +got):\n%s", d)
		}
	}, good)
}

func TestAnObservationIsDatedByItsWork(t *testing.T) {
	bubble(t, func(w *world) {
		then := time.Now().Add(-365 * 24 * time.Hour)
		for _, e := range []events.Event{events.ToolUsed{Tool: "Edit"}, events.AgentStopped{Cause: events.StopDone}} {
			c := session.Capture{ID: w.sys.cfg.NewID(), At: then, Origin: origin("s"), Event: e}
			if _, err := w.sys.Do(w.t.Context(), sid("s"), c); err != nil {
				t.Fatal(err)
			}
			then = then.Add(time.Minute)
		}
		w.settled("s")
		for r, err := range w.log.Stream(w.t.Context(), sid("s").Stream(), 0) {
			old := r.OccurredAt.Before(time.Now().Add(-364 * 24 * time.Hour))
			said := r.Kind == events.KindTurnStarted || r.Kind == events.KindTurnReceived
			if err != nil || old == said {
				t.Errorf("%s is dated %v, %v", r.Kind, r.OccurredAt, err)
			}
		}
	}, good)
}

func TestReceiptsAndDuplicates(t *testing.T) {
	bubble(t, func(w *world) {
		c := session.Capture{ID: w.sys.cfg.NewID(), Key: events.KeyOf("k"), At: time.Now(), Origin: origin("s"), Event: events.ToolUsed{Tool: "Read"}}
		first, err := w.sys.Do(w.t.Context(), sid("s"), c)
		if err != nil || first.Duplicate || first.Position == 0 {
			t.Fatalf("first: %+v, %v", first, err)
		}
		again, err := w.sys.Do(w.t.Context(), sid("s"), c)
		if err != nil || !again.Duplicate {
			t.Errorf("again: %+v, %v; want a duplicate", again, err)
		}
	}, good)
}

func TestBurstsDrainIntoFewAppends(t *testing.T) {
	bubble(t, func(w *world) {
		h := w.hooked()
		var appends atomic.Int32
		h.onAppend = func(stream events.StreamID) {
			if stream == sid("s").Stream() {
				appends.Add(1)
				time.Sleep(time.Second) // the others queue up behind it
			}
		}
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				if r, err := w.tryKeyed("s", events.ToolUsed{Tool: "Read"}, i); err != nil || r.Duplicate {
					t.Errorf("capture %d: %+v, %v", i, r, err)
				}
			})
		}
		wg.Wait()
		if n := appends.Load(); n > 3 {
			t.Errorf("200 captures at once took %d appends, want 3: the first, all others, and a turn that is due", n)
		}
		w.stopAgent("s")
		if got := w.settled("s"); got.Observed != 201 {
			t.Errorf("got %+v, want 201 observed", got)
		}
	}, good)
}

// TestAnObserverThatCrashes covers a panic and an untyped error, which is how a child that died shows. The turn fails,
// the session is respawned after its delay, and the work is done.
func TestAnObserverThatCrashes(t *testing.T) {
	for name, crash := range map[string]providertest.Step{
		"panic": providertest.Panic("boom"), "error": providertest.Crash(errBoom), "typed": providertest.Crash(&observer.Crash{Message: "a child was killed"}),
	} {
		t.Run(name, func(t *testing.T) {
			var crashed atomic.Bool
			step := func(ctx context.Context, n int, p observer.Prompt) (observer.Reply, error) {
				if p.Request == "crash" && crashed.CompareAndSwap(false, true) {
					return crash(ctx, n, p)
				}
				return good(ctx, n, p)
			}
			bubble(t, func(w *world) {
				w.capture("s", events.PromptSubmitted{Text: "crash"})
				w.work("s", 2)
				w.work("sibling", 1)
				w.stopAgent("sibling")
				began := time.Now()
				w.stopAgent("s")
				if got := w.settled("s"); got.Observed != 3 {
					t.Errorf("got %+v, want all 3 observed", got)
				}
				f := all[events.TurnFailed](w)
				if len(all[events.SessionRespawned](w)) != 1 || len(f) != 1 || f[0].Class != events.FailCrash {
					t.Fatalf("got %+v and %+v, want one crash and one respawn", f, all[events.SessionRespawned](w))
				}
				if strings.Contains(f[0].Message, "boom") {
					t.Errorf("the crash's own words were kept: %q", f[0].Message)
				}
				if told := f[0].Message == "a child was killed"; told != (name == "typed") {
					t.Errorf("the crash is kept as %q", f[0].Message)
				}
				if second := all[events.TurnStarted](w); time.Since(began) < 400*time.Millisecond {
					t.Errorf("the restart came without its delay: %+v", second)
				}
				if got := w.settled("sibling"); got.Observed != 2 {
					t.Errorf("the sibling: %+v, want 2 observed", got)
				}
			}, step)
		})
	}
}

func TestAnObserverThatAlwaysCrashesIsQuarantinedAndProbed(t *testing.T) {
	healed := false
	var mu sync.Mutex
	step := func(ctx context.Context, n int, p observer.Prompt) (observer.Reply, error) {
		mu.Lock()
		defer mu.Unlock()
		if healed {
			return good(ctx, n, p)
		}
		panic("boom")
	}
	bubble(t, func(w *world) {
		w.work("s", 20)
		time.Sleep(40 * time.Second)
		synctest.Wait()
		if n := len(all[events.SessionQuarantined](w)); n != 1 {
			t.Fatalf("%d quarantines after six crashes, want 1", n)
		}
		calls := w.provider.Calls()
		time.Sleep(20 * time.Second)
		if got := w.provider.Calls(); got != calls {
			t.Errorf("the provider was asked %d times in quarantine", got-calls)
		}
		w.capture("s", events.ToolUsed{Tool: "Read"}) // capturing goes on
		mu.Lock()
		healed = true
		mu.Unlock()
		w.stopAgent("s")
		if got := w.settled("s"); got.Pending != 0 || got.Captured != 22 {
			t.Errorf("got %+v, want nothing pending of 22", got)
		}
		if r := all[events.SessionReleased](w); len(r) != 1 || r[0].By != "probe" {
			t.Errorf("releases: %+v, want one by a probe", r)
		}
	}, step)
}

func TestAHangIsATimeout(t *testing.T) {
	for name, step := range map[string]providertest.Step{
		"heeds its context": providertest.Hang(),
		"heeds nothing": func(context.Context, int, observer.Prompt) (observer.Reply, error) {
			time.Sleep(3 * time.Minute)
			return observer.Reply{Text: events.NewOutput(goodObservation)}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.work("s", 1)
				w.stopAgent("s")
				time.Sleep(70 * time.Second)
				synctest.Wait()
				f := all[events.TurnFailed](w)
				if len(f) != 1 || f[0].Class != events.FailTimeout {
					t.Fatalf("got %+v, want one timeout", f)
				}
				if got := w.settled("s"); got.Observed != 2 {
					t.Errorf("got %+v, want both observed in the end", got)
				}
				if contains(kinds(w, "s"), events.KindSessionRespawned) {
					t.Error("a timeout was taken for a crash")
				}
				time.Sleep(5 * time.Minute) // the deaf one ends
			}, step, good)
		})
	}
}

func TestAPoisonedInputIsFoundAndDroppedAlone(t *testing.T) {
	step := func(ctx context.Context, n int, p observer.Prompt) (observer.Reply, error) {
		for _, in := range p.Inputs {
			if u, ok := in.Event.(events.ToolUsed); ok && u.Tool == "Poison" {
				panic("boom")
			}
		}
		return good(ctx, n, p)
	}
	bubble(t, func(w *world) {
		w.work("s", 7)
		bad := w.capture("s", events.ToolUsed{Tool: "Poison"}).Position
		w.work("s", 4)
		w.stopAgent("s")
		if got := w.settled("s"); got.Observed != 12 || got.Dropped != 1 {
			t.Errorf("got %+v, want 12 observed and 1 dropped", got)
		}
		d := all[events.InputsDropped](w)
		if len(d) != 1 || len(d[0].Inputs) != 1 || d[0].Inputs[0] != bad || d[0].Reason != events.DropPoison {
			t.Errorf("got %+v, want input %d dropped as poison", d, bad)
		}
	}, step)
}

func TestUnparseableOutputNeverRespawns(t *testing.T) {
	bubble(t, func(w *world) {
		for range 20 {
			w.work("s", 1)
			w.stopAgent("s")
			synctest.Wait()
		}
		if got := w.settled("s"); got.Dropped != 40 || w.state("s").Generation() != 0 {
			t.Errorf("got %+v, generation %d; want 40 dropped and the first observer", got, w.state("s").Generation())
		}
	}, providertest.Text("This session has been exhausted, I cannot continue. The context window is full."))
}

func TestAProvidersFailurePausesItForAllAndHoldsTheWork(t *testing.T) {
	limit := providertest.Fail(observer.Failure{Class: events.FailLimit, Status: 429})
	bubble(t, func(w *world) {
		w.work("a", 1)
		w.stopAgent("a")
		synctest.Wait()
		w.work("b", 1)
		w.stopAgent("b")
		synctest.Wait()
		if got := w.provider.Calls(); got != 1 {
			t.Errorf("%d calls while paused, want 1", got)
		}
		st, err := w.sys.Status(w.t.Context())
		if err != nil || !st.Providers["scripted"].Paused || st.Queued != 2 {
			t.Errorf("status %+v, %v; want a pause with two waiting", st, err)
		}
		a, b := w.settled("a"), w.settled("b")
		if a.Observed != 2 || b.Observed != 2 {
			t.Errorf("got %+v and %+v, want all observed", a, b)
		}
		// 1 min, 2 min, and the third probe is answered.
		if p := all[events.ProviderPaused](w); len(p) != 2 || p[0].Probe != 1 || p[1].Probe != 2 {
			t.Errorf("pauses %+v, want two", p)
		}
		if r := all[events.ProviderResumed](w); len(r) != 1 {
			t.Errorf("resumes %+v, want one", r)
		}
	}, limit, limit, good)
}

func TestAResetTimeIsHonouredAndSurvivesARestart(t *testing.T) {
	bubble(t, func(w *world) {
		w.cfg.Owing = func(context.Context) ([]events.SessionID, error) { return []events.SessionID{sid("a")}, nil }
		w.work("a", 1)
		w.stopAgent("a")
		synctest.Wait()
		w.stopCleanly()
		w.start()
		time.Sleep(2*time.Hour - time.Minute)
		synctest.Wait()
		if got := w.provider.Calls(); got != 1 {
			t.Errorf("%d calls before the reset time, want 1", got)
		}
		time.Sleep(2 * time.Minute)
		if got := w.settled("a"); got.Observed != 2 {
			t.Errorf("got %+v, want both observed after the reset", got)
		}
	}, func(context.Context, int, observer.Prompt) (observer.Reply, error) {
		return observer.Reply{}, &observer.Failure{Class: events.FailLimit, ResetsAt: time.Now().Add(2 * time.Hour)}
	}, good)
}

func TestSlotsBoundTurnsInFlight(t *testing.T) {
	bubble(t, func(w *world) {
		for i := range 10 {
			w.work(fmt.Sprint(i), 1)
			w.stopAgent(fmt.Sprint(i))
		}
		for i := range 10 {
			w.settled(fmt.Sprint(i))
		}
		if got := w.provider.MostRunning(); got != 2 {
			t.Errorf("%d turns at once, want 2", got)
		}
	}, providertest.After(time.Second, good))
}

func TestAnIdleSessionPassivatesAndComesBack(t *testing.T) {
	bubble(t, func(w *world) {
		w.work("s", 1)
		w.stopAgent("s")
		w.settled("s")
		awake := func() int {
			st, err := w.sys.Status(w.t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return st.Awake
		}
		if awake() != 1 {
			t.Errorf("%d awake, want 1", awake())
		}
		time.Sleep(11 * time.Minute)
		synctest.Wait()
		if awake() != 0 {
			t.Errorf("%d awake after 11 idle minutes, want 0", awake())
		}
		w.work("s", 1)
		w.stopAgent("s")
		if got := w.settled("s"); got.Observed != 4 {
			t.Errorf("got %+v, want 4 observed", got)
		}
		time.Sleep(25 * time.Hour) // asleep, it is woken to be closed
		synctest.Wait()
		if !w.state("s").Closed() {
			t.Error("a session silent for a day was not closed")
		}
	}, good)
}

func TestPassivationLosesNoRace(t *testing.T) {
	bubble(t, func(w *world) {
		for i := range 50 {
			w.work("s", 1)
			time.Sleep(10*time.Minute + time.Duration(i-25)*time.Millisecond)
		}
		w.stopAgent("s")
		if got := w.settled("s"); got.Captured < 51 || got.Pending != 0 {
			t.Errorf("got %+v, want all of at least 51 settled", got)
		}
	}, good)
}

func TestIdleWorkIsStopped(t *testing.T) {
	bubble(t, func(w *world) {
		w.work("s", 1)
		time.Sleep(31 * time.Minute)
		synctest.Wait()
		s := all[events.AgentStopped](w)
		if len(s) != 1 || s[0].Cause != events.StopIdle {
			t.Errorf("stops %+v, want an idle one", s)
		}
	}, good)
}

func TestTheDoorIsBounded(t *testing.T) {
	bubble(t, func(w *world) {
		w.cfg.MaxWaiting, w.cfg.MaxWaitBytes = 3, 1000
		h := w.hooked()
		h.onAppend = func(events.StreamID) { time.Sleep(time.Second) }
		var wg sync.WaitGroup
		var busy atomic.Int32
		for i := range 50 {
			wg.Go(func() {
				if _, err := w.tryKeyed("s", events.ToolUsed{}, i); errors.Is(err, ErrBusy) {
					busy.Add(1)
				} else if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got := w.state("s").Balance().Captured; got != 3 || busy.Load() != 47 {
			t.Errorf("%d captured and %d refused of 50, want 3 and 47", got, busy.Load())
		}
		wg.Go(func() { w.tryKeyed("s", events.ToolUsed{Output: strings.Repeat("x", 900)}, 100) })
		synctest.Wait()
		if _, err := w.tryKeyed("s", events.ToolUsed{}, 101); !errors.Is(err, ErrBusy) {
			t.Errorf("over the bytes: got %v, want ErrBusy", err)
		}
		wg.Wait()
		if _, err := w.tryKeyed("s", events.ToolUsed{Output: strings.Repeat("x", 9000)}, 102); err != nil {
			t.Errorf("one that is alone over the bytes: %v, want it let in", err)
		}
		st, err := w.sys.Status(w.t.Context())
		if err != nil || st.Waiting != 0 {
			t.Errorf("%+v, %v: want nobody waiting", st, err)
		}
		if _, err := w.sys.Do(w.t.Context(), sid("s")); !errors.Is(err, ErrNoCommands) {
			t.Errorf("without commands: %v, want ErrNoCommands", err)
		}
		w.stop()
		if _, err := w.try("s", events.ToolUsed{}); !errors.Is(err, ErrStopped) {
			t.Errorf("after the end: %v, want ErrStopped", err)
		}
	}, good)
}
