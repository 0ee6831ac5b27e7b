package providertest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/testkit/race"
)

// MaxOutput is the longest output in bytes that a turn may have. It is stored whole, for ever, and no turn needs more.
const MaxOutput = 256 << 10

// Run checks the contract of observer.Provider, each rule as a subtest. New must return a provider of its own at each
// call; it may be asked at once from many goroutines. Options.Prompts are asked beside the suite's own.
func Run(t *testing.T, newProvider func(*testing.T) observer.Provider, o Options) {
	t.Helper()
	if o.StopWithin == 0 {
		o.StopWithin = 2 * time.Second
	}
	if race.Enabled { // under the detector the same work takes some ten times as long
		o.StopWithin *= 10
	}
	for _, r := range rules() {
		if r.deterministic && !o.Deterministic {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if err := r.check(t.Context(), newProvider(t), o); err != nil {
				t.Error(err)
			}
		})
	}
}

// rule is one rule of the contract. Its check returns what was broken first.
type rule struct {
	name          string
	deterministic bool // promised only by deterministic providers
	check         func(context.Context, observer.Provider, Options) error
}

func rules() []rule {
	return []rule{
		{name: "identity", check: checkIdentity},
		{name: "answers", check: checkAnswers},
		{name: "prompt untouched", check: checkUntouched},
		{name: "cancelled before", check: checkCancelled},
		{name: "cancelled within", check: checkCancelledWithin},
		{name: "concurrent", check: checkConcurrent},
		{name: "budget", check: checkAnyBudget},
		{name: "deterministic", deterministic: true, check: checkDeterministic},
	}
}

func checkIdentity(_ context.Context, p observer.Provider, _ Options) error {
	name, model, w := p.Name(), p.Model(), p.BatchLimits()
	if !regexp.MustCompile(`^[a-z0-9]+([-_.][a-z0-9]+)*$`).MatchString(name) {
		return fmt.Errorf("name %q is not lowercase without spaces", name)
	}
	if p.Name() != name || p.Model() != model || p.BatchLimits() != w {
		return errors.New("name, model or batch limits changed between two calls")
	}
	if w.MaxInputs < 0 || w.MaxBytes < 0 || w.MaxAge < 0 {
		return fmt.Errorf("batch limits %+v have a negative limit", w)
	}
	return nil
}

// complete asks once and turns a panic into an error that is no *observer.Failure.
func complete(ctx context.Context, p observer.Provider, prompt observer.Prompt) (r observer.Reply, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panicked: %v", v)
		}
	}()
	return p.Complete(ctx, prompt)
}

// checkOutcome says what is wrong with an answer.
func checkOutcome(r observer.Reply, err error) error {
	if failure, ok := errors.AsType[*observer.Failure](err); ok {
		if !failure.Class.BlamesProvider() && !failure.Class.BlamesTurn() {
			return fmt.Errorf("failed with class %q, which blames neither provider nor turn", failure.Class)
		}
		return nil
	}
	switch {
	case err != nil:
		return fmt.Errorf("crashed: %w", err)
	case r.Text.Len() > MaxOutput:
		return fmt.Errorf("output has %d bytes, at most %d", r.Text.Len(), MaxOutput)
	case !utf8.ValidString(r.Text.RawText()):
		return errors.New("output is not valid UTF-8")
	case r.Form == "":
		return errors.New("output has no form")
	case r.Usage.Input < 0 || r.Usage.Cached < 0 || r.Usage.Output < 0:
		return fmt.Errorf("usage %+v is negative", r.Usage)
	case r.Calls < 0 || !(r.Cost >= 0) || math.IsInf(r.Cost, 0):
		return fmt.Errorf("%d calls for $%v cannot be", r.Calls, r.Cost)
	}
	return nil
}

func checkAnswers(ctx context.Context, p observer.Provider, o Options) error {
	for _, c := range cases(o) {
		if err := checkOutcome(complete(ctx, p, c.prompt)); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

func checkUntouched(ctx context.Context, p observer.Provider, o Options) error {
	before := cases(o)
	for i, c := range cases(o) {
		_, _ = complete(ctx, p, c.prompt)
		if !reflect.DeepEqual(before[i].prompt, c.prompt) {
			return fmt.Errorf("%s: the prompt was changed", c.name)
		}
	}
	return nil
}

func checkCancelled(ctx context.Context, p observer.Provider, o Options) error {
	gone, cancel := context.WithCancel(ctx)
	cancel()
	for _, c := range cases(o) {
		began := time.Now()
		r, err := complete(gone, p, c.prompt)
		switch took := time.Since(began); {
		case !errors.Is(err, context.Canceled):
			return fmt.Errorf("%s: with a cancelled context got error %v, want context.Canceled", c.name, err)
		case !r.Text.IsZero():
			return fmt.Errorf("%s: with a cancelled context got an output of %d bytes", c.name, r.Text.Len())
		case took > o.StopWithin:
			return fmt.Errorf("%s: took %v to notice that its context was cancelled", c.name, took)
		}
	}
	return nil
}

// checkCancelledWithin cancels while the provider works. An answer that was ready is as good as ctx.Err().
func checkCancelledWithin(ctx context.Context, p observer.Provider, o Options) error {
	for _, c := range cases(o) {
		within, cancel := context.WithTimeout(ctx, time.Millisecond)
		began := time.Now()
		r, err := complete(within, p, c.prompt)
		took := time.Since(began)
		cancel()
		if took > o.StopWithin {
			return fmt.Errorf("%s: took %v to notice that its context was done", c.name, took)
		}
		if errors.Is(err, context.DeadlineExceeded) {
			continue
		}
		if err := checkOutcome(r, err); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

func checkConcurrent(ctx context.Context, p observer.Provider, o Options) error {
	const goroutines = 8
	errs := make([]error, goroutines)
	var group sync.WaitGroup
	for i := range goroutines {
		group.Go(func() { errs[i] = checkAnswers(ctx, p, o) })
	}
	group.Wait()
	return errors.Join(errs...)
}

func checkDeterministic(ctx context.Context, p observer.Provider, o Options) error {
	for _, c := range cases(o) {
		first, firstErr := complete(ctx, p, c.prompt)
		for range 3 {
			again, err := complete(ctx, p, c.prompt)
			if diff := cmp.Diff(first, again); diff != "" {
				return fmt.Errorf("%s: equal prompts got different replies (-first +again):\n%s", c.name, diff)
			}
			if (err == nil) != (firstErr == nil) {
				return fmt.Errorf("%s: equal prompts got errors %v and %v", c.name, firstErr, err)
			}
		}
	}
	return nil
}
