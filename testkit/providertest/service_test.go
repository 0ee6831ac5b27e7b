package providertest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// TestServiceCasesTellRightFromWrong holds each case to what it wants, and to refusing what comes near it.
func TestServiceCasesTellRightFromWrong(t *testing.T) {
	t.Parallel()
	for _, c := range serviceCases() {
		b := c.behaviour
		good := observer.Reply{Text: events.NewOutput(b.Text), Form: events.FormXML}
		right := &observer.Failure{Class: c.class, Status: b.Status, Output: events.NewOutput(b.Text)}
		if c.class == "" {
			if err := c.check(good, nil); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			cut := good
			cut.Text = events.NewOutput("<observation>")
			for _, r := range []observer.Reply{cut, {Text: events.NewOutput(b.Text)}} {
				if c.check(r, nil) == nil {
					t.Errorf("%s: %+v is taken", c.name, r)
				}
			}
			if c.check(good, right) == nil {
				t.Errorf("%s: a failure is taken", c.name)
			}
			continue
		}
		if err := c.check(observer.Reply{}, right); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		otherClass, otherStatus, lost := *right, *right, *right
		otherClass.Class, otherStatus.Status, lost.Output = events.FailCrash, 499, events.Output{}
		wrong := []error{nil, errors.New("crash"), &otherClass, &otherStatus}
		if b.Treatment == Bounds {
			wrong = append(wrong, &lost)
		}
		for _, err := range wrong {
			if c.check(good, err) == nil {
				t.Errorf("%s: %#v is taken", c.name, err)
			}
		}
	}
}

// TestAStopMustBeNoticed: a provider that goes on, or calls its caller's end a failure, is found out.
func TestAStopMustBeNoticed(t *testing.T) {
	t.Parallel()
	if err := checkStopped(t.Context(), NewScripted(Hang())); err != nil {
		t.Error(err)
	}
	deaf := func(context.Context, int, observer.Prompt) (observer.Reply, error) {
		time.Sleep(shortLimit + 2200*time.Millisecond)
		return observer.Reply{}, context.DeadlineExceeded
	}
	for name, step := range map[string]Step{
		"deaf": deaf, "a failure": Fail(observer.Failure{Class: events.FailTimeout}), "an answer": Text("x"),
	} {
		if checkStopped(t.Context(), NewScripted(step)) == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
}
