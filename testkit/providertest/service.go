package providertest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// A Treatment is what a service does with a question.
type Treatment int

// The treatments.
const (
	Answers Treatment = iota // with Text, all of it
	Dawdles                  // the same, with a pause of Pause in the middle
	Bounds                   // Text is cut by the bound of tokens, and it says so
	Blocks                   // it will not answer this question, whoever asks
	Breaks                   // the connection ends in the middle of Text
	Hangs                    // it is silent after the beginning of Text
	Refuses                  // with Status
)

// Pause is how long a service that dawdles is silent.
const Pause = 100 * time.Millisecond

// A Behaviour is how a service treats all questions.
type Behaviour struct {
	Treatment
	Text   string
	Status int
}

// Service is a fake of what a provider asks, which behaves as it is set.
type Service interface {
	// Behave sets how questions are treated from now on.
	Behave(Behaviour)
	// Provider returns a provider that asks it, does not ask again by itself, and gives a turn up after limit.
	Provider(t *testing.T, limit time.Duration) observer.Provider
}

const (
	longLimit  = 30 * time.Second // of a turn that is to end by itself
	shortLimit = 500 * time.Millisecond
)

// RunService checks that whatever the service behind a provider does comes to the same: an answer as it was given, or a
// failure of the same class with the same status. New must return a service of its own at each call.
func RunService(t *testing.T, newService func(*testing.T) Service) {
	t.Helper()
	for _, c := range serviceCases() {
		t.Run(c.name, func(t *testing.T) {
			s := newService(t)
			s.Behave(c.behaviour)
			limit := longLimit
			if c.behaviour.Treatment == Hangs {
				limit = shortLimit
			}
			r, err := complete(t.Context(), s.Provider(t, limit), ordinary())
			if err := c.check(r, err); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("hangs, and is stopped", func(t *testing.T) {
		s := newService(t)
		s.Behave(Behaviour{Treatment: Hangs, Text: observer.SkipForm})
		if err := checkStopped(t.Context(), s.Provider(t, longLimit)); err != nil {
			t.Error(err)
		}
	})
}

// serviceCase is a behaviour and what it comes to.
type serviceCase struct {
	name      string
	behaviour Behaviour
	class     events.FailureClass // empty: the text, as an answer
}

func serviceCases() []serviceCase {
	const whole = "<observation><title>Round totals once: é 記録</title></observation>"
	list := []serviceCase{
		{"answers", Behaviour{Treatment: Answers, Text: whole}, ""},
		{"answers nothing", Behaviour{Treatment: Answers}, ""},
		{"answers prose", Behaviour{Treatment: Answers, Text: "You've hit your limit. Please log in."}, ""},
		{"dawdles", Behaviour{Treatment: Dawdles, Text: whole}, ""},
		{"bounds", Behaviour{Treatment: Bounds, Text: whole}, events.FailTruncated},
		{"blocks", Behaviour{Treatment: Blocks}, events.FailRefused},
		{"breaks", Behaviour{Treatment: Breaks, Text: whole}, events.FailTransport},
		{"hangs", Behaviour{Treatment: Hangs, Text: whole}, events.FailTimeout},
	}
	for _, r := range []struct {
		status int
		class  events.FailureClass
	}{
		{400, events.FailRefused}, {401, events.FailAuth}, {402, events.FailBilling}, {403, events.FailAuth}, {404, events.FailSetup},
		{408, events.FailTimeout}, {413, events.FailOverflow}, {422, events.FailRefused}, {429, events.FailLimit}, {500, events.FailServer},
		{502, events.FailServer}, {503, events.FailOverload}, {504, events.FailTimeout}, {529, events.FailOverload},
	} {
		list = append(list, serviceCase{fmt.Sprint(r.status), Behaviour{Treatment: Refuses, Status: r.status}, r.class})
	}
	return list
}

// check says what is wrong with what a turn came to.
func (c serviceCase) check(r observer.Reply, err error) error {
	if c.class == "" {
		if err != nil || !cmp.Equal(r.Text.RawText(), c.behaviour.Text) {
			return fmt.Errorf("got %q, %v, want %q", r.Text, err, c.behaviour.Text)
		}
		return checkOutcome(r, err)
	}
	f, ok := errors.AsType[*observer.Failure](err)
	switch {
	case !ok:
		return fmt.Errorf("got %q, %v, want a failure of the class %s", r.Text, err, c.class)
	case f.Class != c.class || f.Status != c.behaviour.Status:
		return fmt.Errorf("got %v, class %s, status %d, want %s, %d", f, f.Class, f.Status, c.class, c.behaviour.Status)
	case c.behaviour.Treatment == Bounds && !cmp.Equal(f.Output.RawText(), c.behaviour.Text):
		return fmt.Errorf("kept %q of a bounded answer, want %q", f.Output, c.behaviour.Text)
	}
	return nil
}

// checkStopped: a caller that goes is not kept waiting by a service that hangs, and it is no failure.
func checkStopped(ctx context.Context, p observer.Provider) error {
	ctx, cancel := context.WithTimeout(ctx, shortLimit)
	defer cancel()
	began := time.Now()
	r, err := complete(ctx, p, ordinary())
	if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || !r.Text.IsZero() || took > shortLimit+2*time.Second {
		return fmt.Errorf("got %q, %v after %v, want the caller's end at once", r.Text, err, took)
	}
	return nil
}
