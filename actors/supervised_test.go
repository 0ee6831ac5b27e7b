package actors

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/testkit/providertest"
)

// supervised begins a life in which outputs that did not parse may earn a fresh observer. Each input is a turn.
func (w *world) supervised() {
	w.t.Helper()
	w.provider.Limits = policy.BatchLimits{MaxInputs: 1}
	w.cfg.Rules.Outputs = &policy.Unparseable{}
	w.again()
}

// observers are the ids of the observer actors that are alive.
func (w *world) observers() []string {
	var ids []string
	for _, bucket := range w.sys.system.ProcessRegistry.LocalPIDs.LocalPIDs {
		for _, id := range bucket.Keys() {
			if strings.HasPrefix(id, w.sys.sessions.Id+"/") && strings.Count(strings.TrimPrefix(id, w.sys.sessions.Id), "/") == 2 {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

func prose() providertest.Step { return providertest.Text("I am ready to observe.") }

func TestSupervisedTriesAFreshObserverOnceInTenMinutes(t *testing.T) {
	steps := []providertest.Step{good}
	for range 50 {
		steps = append(steps, prose())
	}
	bubble(t, func(w *world) {
		w.owing("s")
		w.supervised()
		w.work("s", 1)
		synctest.Wait()
		before := w.observers()
		for range 4 {
			w.work("s", 1)
			synctest.Wait()
		}
		if n := len(all[events.SessionRespawned](w)); n != 0 || len(before) != 1 {
			t.Fatalf("%d respawns after four outputs, and observers %v; want none, and one", n, before)
		}
		w.work("s", 1)
		synctest.Wait()
		r := all[events.SessionRespawned](w)
		if len(r) != 1 || r[0].Cause != "unparseable" || r[0].Counted.Unparseable != 5 || r[0].Limits.Unparseable != 5 {
			t.Fatalf("got %+v, want one respawn that says what was counted", r)
		}
		if after := w.observers(); len(after) != 1 || after[0] == before[0] {
			t.Errorf("observers before and after: %v, %v; want another one", before, after)
		}
		w.checkFresh(t)
		for range 10 { // the fresh one is no better, and the daemon is restarted: nothing more is granted
			w.work("s", 1)
			w.again()
			time.Sleep(10 * time.Second)
			synctest.Wait()
		}
		if n := len(all[events.SessionRespawned](w)); n != 1 {
			t.Errorf("%d respawns within ten minutes, want 1", n)
		}
		time.Sleep(9 * time.Minute)
		for range 5 {
			w.work("s", 1)
		}
		synctest.Wait()
		if n := len(all[events.SessionRespawned](w)); n != 2 || w.state("s").Generation() != 2 {
			t.Errorf("%d respawns after ten minutes, want a second", n)
		}
		if n := len(all[events.SessionQuarantined](w)); n != 0 {
			t.Errorf("%d quarantines: a respawn for outputs was counted as a crash", n)
		}
	}, steps...)
}

// checkFresh looks at the turn behind the first respawn: the batch that earned it, asked once more, with no titles, but by
// somebody who knows which files there were.
func (w *world) checkFresh(t *testing.T) {
	started, prompts := all[events.TurnStarted](w), w.provider.Prompts()
	last := len(started) - 1
	if started[last].Generation != 1 || started[last].Attempt != 2 {
		t.Errorf("got %+v, want a second attempt by the second generation", started[last])
	}
	if d := cmp.Diff(started[last-1].Settles, started[last].Settles); d != "" {
		t.Errorf("what is asked again (-want +got):\n%s", d)
	}
	if n := len(prompts[last-1].Recent); n != 1 {
		t.Errorf("the first generation was told of %d titles, want 1", n)
	}
	if n := len(prompts[last].Recent); n != 0 {
		t.Errorf("the fresh one was told of %d titles, want none", n)
	}
	if d := cmp.Diff([]string{"/p/a.go"}, prompts[last].Touched); d != "" {
		t.Errorf("what the session has touched, of which nothing is told (-want +got):\n%s", d)
	}
}

func TestAWedgedObserverIsFreedBySupervised(t *testing.T) {
	wedged := 0
	step := func(ctx context.Context, n int, p observer.Prompt) (observer.Reply, error) {
		if len(p.Recent) > 0 { // it imitates what it is told
			wedged++
			return prose()(ctx, n, p)
		}
		return good(ctx, n, p)
	}
	bubble(t, func(w *world) {
		w.supervised()
		w.work("s", 6)
		synctest.Wait()
		if got := w.state("s").Balance(); got.Observed != 2 || got.Dropped != 4 || wedged != 5 {
			t.Errorf("got %+v after %d bad outputs, want four of five dropped and the last observed by a fresh one", got, wedged)
		}
	}, step)
}

func TestWhereAFreshObserverChangesNothingThereIsNone(t *testing.T) {
	bubble(t, func(w *world) {
		w.supervised()
		w.provider.Limits.Fixed = true
		w.again()
		w.work("s", 20)
		if got := w.settled("s"); got.Dropped != 20 || w.state("s").Generation() != 0 {
			t.Errorf("got %+v, generation %d; want all dropped by the first", got, w.state("s").Generation())
		}
	}, prose())
}

func TestATurnSaysHowMuchOfItWasNotable(t *testing.T) {
	bubble(t, func(w *world) {
		w.capture("s", events.ToolUsed{Tool: "Edit", Input: `{"file_path":"/p/a.go","old_string":"a","new_string":"b"}`, Output: `{}`})
		w.capture("s", events.ToolUsed{Tool: "Read", Input: `{"file_path":"/p/a.go"}`})
		w.capture("s", events.ToolUsed{Tool: "Bash", Input: `{"command":"go test ./..."}`, Failed: true})
		w.stopAgent("s")
		w.settled("s")
		var got []int
		for _, s := range all[events.TurnStarted](w) {
			got = append(got, s.Notable)
		}
		if d := cmp.Diff([]int{2, 0}, got); d != "" {
			t.Errorf("notable inputs of the observation and the summary (-want +got):\n%s", d)
		}
	}, good)
}
