package providertest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

func TestScriptedFollowsItsScript(t *testing.T) {
	t.Parallel()
	died := errors.New("child died")
	s := NewScripted(Text("one"), Fail(observer.Failure{Class: events.FailLimit, Status: 429}), Crash(died), Text("last"))
	ask := func(request string) (observer.Reply, error) {
		return s.Complete(t.Context(), observer.Prompt{Request: request})
	}
	if r, err := ask("a"); err != nil || r.Text.RawText() != "one" || r.Form != events.FormXML {
		t.Errorf("call 1: got %+v, %v", r, err)
	}
	_, err := ask("b")
	if failure, ok := errors.AsType[*observer.Failure](err); !ok || failure.Class != events.FailLimit || failure.Status != 429 {
		t.Errorf("call 2: got %v, want a limit failure", err)
	}
	if _, err := ask("c"); !errors.Is(err, died) {
		t.Errorf("call 3: got %v, want %v", err, died)
	}
	for range 3 {
		if r, err := ask("d"); err != nil || r.Text.RawText() != "last" {
			t.Errorf("call after the script: got %+v, %v, want the last step again", r, err)
		}
	}
	var asked []string
	for _, p := range s.Prompts() {
		asked = append(asked, p.Request)
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "d", "d", "d"}, asked); diff != "" {
		t.Errorf("recorded prompts (-want +got):\n%s", diff)
	}
	if s.Calls() != 6 || s.Running() != 0 || s.MostRunning() != 1 {
		t.Errorf("got %d calls, %d running, %d at most", s.Calls(), s.Running(), s.MostRunning())
	}
}

func TestScriptedWithoutStepsIsIdle(t *testing.T) {
	t.Parallel()
	r, err := NewScripted().Complete(t.Context(), observer.Prompt{})
	if err != nil || !r.Text.IsZero() {
		t.Errorf("got %+v, %v, want a blank output", r, err)
	}
}

func TestScriptedPanicsAndIsNotRunningAfterwards(t *testing.T) {
	t.Parallel()
	s := NewScripted(Panic("boom"))
	func() {
		defer func() {
			if v := recover(); v != "boom" {
				t.Errorf("recovered %v, want boom", v)
			}
		}()
		_, _ = s.Complete(t.Context(), observer.Prompt{})
		t.Error("it returned")
	}()
	if s.Running() != 0 || s.Calls() != 1 {
		t.Errorf("got %d running, %d calls, want 0 and 1", s.Running(), s.Calls())
	}
}

func TestScriptedDoesNotRecordACancelledCall(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := NewScripted(Text("x"))
	if _, err := s.Complete(ctx, observer.Prompt{}); !errors.Is(err, context.Canceled) || s.Calls() != 0 {
		t.Errorf("got %v and %d calls, want context.Canceled and none", err, s.Calls())
	}
}

func TestScriptedInABubble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewScripted(After(time.Hour, Text("patient")), Hang())
		began := time.Now()
		if r, err := s.Complete(t.Context(), observer.Prompt{}); err != nil || r.Text.RawText() != "patient" {
			t.Errorf("got %+v, %v", r, err)
		}
		if got := time.Since(began); got != time.Hour {
			t.Errorf("took %v, want an hour of the bubble", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		errs := make(chan error)
		for range 2 {
			go func() {
				_, err := s.Complete(ctx, observer.Prompt{})
				errs <- err
			}()
		}
		synctest.Wait()
		if s.Running() != 2 || s.MostRunning() != 2 {
			t.Errorf("got %d running, %d at most, want 2 and 2", s.Running(), s.MostRunning())
		}
		for range 2 {
			if err := <-errs; !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v, want the deadline", err)
			}
		}
	})
}
