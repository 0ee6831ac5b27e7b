package actors

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/testkit/providertest"
)

// held answers when it is let go, or when its context ends, which it tells.
func held(release *chan struct{}, cut *int) providertest.Step {
	return func(ctx context.Context, n int, p observer.Prompt) (observer.Reply, error) {
		select {
		case <-*release:
			return good(ctx, n, p)
		case <-ctx.Done():
			*cut++
			return observer.Reply{}, ctx.Err()
		}
	}
}

func (w *world) forget(name string, at ...events.Position) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	_, err := w.sys.Do(ctx, sid(name), session.Forget{
		ID: w.sys.cfg.NewID(), At: time.Now(), Forgotten: []events.MemoryForgotten{{Positions: at, Cause: "person"}},
	})
	return err
}

// TestATurnOverWhatIsForgottenIsCut: its observer is cancelled, what it would have said is never recorded, nobody is blamed, and
// what is left of its inputs is asked about in another turn, at once.
func TestATurnOverWhatIsForgottenIsCut(t *testing.T) {
	var release chan struct{}
	cut := 0
	bubble(t, func(w *world) {
		release = make(chan struct{})
		w.work("a", 2)
		w.stopAgent("a")
		synctest.Wait()
		id, flying := w.state("a").InFlight()
		if !flying {
			t.Fatal("no turn is in flight")
		}
		if err := w.forget("a", all[events.TurnStarted](w)[0].Settles[0]); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if cut != 1 {
			t.Errorf("the observer was cancelled %d times, want 1", cut)
		}
		got := w.settled("a")
		if got.Forgotten != 1 || got.Observed != 2 || got.Captured != 3 {
			t.Errorf("balance %+v", got)
		}
		failed := all[events.TurnFailed](w)
		if len(failed) != 1 || failed[0].Turn != id || failed[0].Class != events.FailInterrupted || !failed[0].Clean {
			t.Errorf("failures %+v", failed)
		}
		if s := all[events.SessionRespawned](w); len(s) != 0 {
			t.Errorf("somebody was blamed: %+v", s)
		}
		for _, s := range all[events.TurnStarted](w)[1:] {
			if s.Attempt != 1 {
				t.Errorf("attempt %d: the inputs were blamed", s.Attempt)
			}
		}
	}, held(&release, &cut), good)
}

// TestATurnOverOtherThingsGoesOn: it was told nothing of what is forgotten.
func TestATurnOverOtherThingsGoesOn(t *testing.T) {
	var release chan struct{}
	cut := 0
	bubble(t, func(w *world) {
		release = make(chan struct{})
		w.capture("a", events.PromptSubmitted{Text: "one"})
		prompt := all[events.PromptSubmitted](w)
		w.capture("a", events.PromptSubmitted{Text: "two"})
		w.work("a", 1)
		w.stopAgent("a")
		synctest.Wait()
		if len(prompt) != 1 {
			t.Fatal(prompt)
		}
		if err := w.forget("a", 3); err != nil { // the first prompt: after the daemon's start and the session's
			t.Fatal(err)
		}
		synctest.Wait()
		if cut != 0 {
			t.Error("the turn was cut")
		}
		close(release)
		if got := w.settled("a"); got.Observed != 2 || got.Forgotten != 0 {
			t.Errorf("balance %+v", got)
		}
		if n := len(all[events.TurnFailed](w)); n != 0 {
			t.Errorf("%d turns failed", n)
		}
	}, held(&release, &cut), good)
}

// TestForgettingNothing is refused.
func TestForgettingNothing(t *testing.T) {
	bubble(t, func(w *world) {
		w.work("a", 1)
		ctx := context.Background()
		if _, err := w.sys.Do(ctx, sid("a"), session.Forget{ID: w.sys.cfg.NewID(), At: time.Now()}); err == nil {
			t.Error("a Forget that names nothing was taken")
		}
		if err := w.forget("nobody", 1); err == nil {
			t.Error("a session that nobody has heard of was asked to forget")
		}
	}, good)
}

// TestATurnThatReadWhatIsForgottenDoesNotStart: a prompt that was made before something of it is forgotten is asked of nobody, whichever
// comes first of the two that wait for an append.
func TestATurnThatReadWhatIsForgottenDoesNotStart(t *testing.T) {
	for name, tc := range map[string]struct {
		waits events.Kind // whose append takes until the others are there
		first bool        // the prompt is there first
	}{
		"it is being recorded when the prompt is there": {events.KindMemoryForgotten, false},
		"both wait for another append":                  {events.KindAgentSaid, false},
		"both wait, the prompt first":                   {events.KindAgentSaid, true},
	} {
		t.Run(name, func(t *testing.T) {
			leaked := 0
			bubble(t, func(w *world) {
				h := w.hooked()
				read, recorded := make(chan struct{}), make(chan struct{})
				h.onGet = func(events.Position) error {
					<-read
					return nil
				}
				h.onDrafts = func(ds []events.Draft) error {
					if events.KindOf(ds[0].Event) == tc.waits {
						<-recorded
					}
					return nil
				}
				prompt := w.capture("a", events.PromptSubmitted{Text: "the secret"}).Position
				w.work("a", 1)
				w.stopAgent("a")
				synctest.Wait() // the turn's inputs are being read
				done := make(chan error, 2)
				go func() {
					_, err := w.try("a", events.AgentSaid{Text: "another"})
					done <- err
				}()
				synctest.Wait()
				steps := []func(){func() { go func() { done <- w.forget("a", prompt) }() }, func() { close(read) }}
				if tc.first {
					slices.Reverse(steps)
				}
				for _, step := range steps {
					step()
					synctest.Wait()
				}
				close(recorded)
				if err := errors.Join(<-done, <-done); err != nil {
					t.Fatal(err)
				}
				if got := w.settled("a"); got.Observed != 2 {
					t.Errorf("balance %+v", got)
				}
				if leaked > 0 {
					t.Errorf("what is forgotten was in %d prompts", leaked)
				}
				if n := len(all[events.SessionFaulted](w)); n != 0 {
					t.Errorf("the session's actor crashed %d times", n)
				}
			}, func(ctx context.Context, n int, p observer.Prompt) (observer.Reply, error) {
				if strings.Contains(fmt.Sprintf("%+v", p), "the secret") {
					leaked++
				}
				return good(ctx, n, p)
			})
		})
	}
}
