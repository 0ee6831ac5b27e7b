package providertest

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

func TestScriptedKeepsTheContract(t *testing.T) {
	t.Parallel()
	Run(t, func(*testing.T) observer.Provider { return NewScripted(Text(observer.SkipForm)) }, Options{Deterministic: true})
}

func TestFailuresAreWithinTheContract(t *testing.T) {
	t.Parallel()
	Run(t, func(*testing.T) observer.Provider {
		return NewScripted(Fail(observer.Failure{Class: events.FailLimit, Status: 429}))
	}, Options{})
}

// Each planted violation is found by the rule that is there for it.
func TestSuiteFindsViolations(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	tests := []struct {
		rule string
		step Step
		want string
	}{
		{"answers", Panic("boom"), "panicked: boom"},
		{"answers", Crash(errors.New("child died")), "crashed: child died"},
		{"answers", Text(strings.Repeat("x", MaxOutput+1)), "at most"},
		{"answers", Text("\xff"), "UTF-8"},
		{"answers", Answer(observer.Reply{Text: events.NewOutput("x")}), "form"},
		{"answers", Answer(observer.Reply{Form: events.FormXML, Bill: events.Bill{Usage: events.Usage{Output: -1}}}), "negative"},
		{"answers", Fail(observer.Failure{Class: events.FailCrash}), "blames neither"},
		{"answers", Answer(observer.Reply{Form: events.FormXML, Bill: events.Bill{Calls: -1}}), "cannot be"},
		{"answers", Answer(observer.Reply{Form: events.FormXML, Bill: events.Bill{Cost: math.NaN()}}), "cannot be"},
		{"budget", Fail(observer.Failure{Class: events.FailCrash}), "budget 1: "},
		{"concurrent", Panic("boom"), "panicked: boom"},
		{"cancelled before", deaf(Text("late")), "want context.Canceled"},
		{"cancelled within", deaf(slow(60 * time.Millisecond)), "to notice"},
		{"prompt untouched", scribble, "was changed"},
		{"deterministic", func(context.Context, int, observer.Prompt) (observer.Reply, error) {
			return observer.Reply{Text: events.NewOutput(strings.Repeat("x", int(calls.Add(1)))), Form: events.FormXML}, nil
		}, "different replies"},
	}
	for _, tt := range tests {
		t.Run(tt.rule+" "+tt.want, func(t *testing.T) {
			t.Parallel()
			err := check(t, tt.rule)(t.Context(), &loose{step: tt.step}, Options{StopWithin: 50 * time.Millisecond})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

// TestBudget: one who sends what it was given, cut or not, is told from one who keeps to the budget.
func TestBudget(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sends func(p observer.Prompt) string
		want  string // in the error; empty: none
	}{
		"heeds it": {func(p observer.Prompt) string {
			return p.Request[:min(max(p.Budget, 0), len(p.Request))] + p.Request[:b2i(p.Budget == 0)*20_000]
		}, ""},
		"does not":       {func(p observer.Prompt) string { return p.Request }, "budget 1: "},
		"half of it":     {func(p observer.Prompt) string { return p.Request[:max(5_000, p.Budget)] }, "budget 1: "},
		"sends nothing":  {func(observer.Prompt) string { return "" }, "budget 4000: 0 bytes"},
		"sends the less": {func(p observer.Prompt) string { return strings.Repeat(captured, (17_000-p.Budget)/1_000) }, "budget 1: "},
	} {
		last := ""
		p := &loose{step: func(_ context.Context, _ int, p observer.Prompt) (observer.Reply, error) {
			last = c.sends(p)
			return observer.Reply{Form: events.FormXML}, nil
		}}
		err := Budget(t.Context(), p, func() string { return last })
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, c.want)
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestSuiteFindsBadNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "Extractive", "my provider", "-x", "x/y"} {
		s := NewScripted()
		s.Called = name
		if err := check(t, "identity")(t.Context(), s, Options{}); err == nil {
			t.Errorf("name %q: got no error", name)
		}
	}
}

func check(t *testing.T, name string) func(context.Context, observer.Provider, Options) error {
	t.Helper()
	for _, r := range rules() {
		if r.name == name {
			return r.check
		}
	}
	t.Fatalf("no rule %q", name)
	return nil
}

// loose is a provider that does not look at its context by itself.
type loose struct {
	Scripted
	step Step
}

func (*loose) Name() string { return "loose" }

func (l *loose) Complete(ctx context.Context, p observer.Prompt) (observer.Reply, error) {
	return l.step(ctx, 1, p)
}

// deaf takes step without the caller's context.
func deaf(step Step) Step {
	return func(ctx context.Context, call int, p observer.Prompt) (observer.Reply, error) {
		return step(context.WithoutCancel(ctx), call, p)
	}
}

func slow(d time.Duration) Step { return After(d, Text("slow")) }

func scribble(_ context.Context, _ int, p observer.Prompt) (observer.Reply, error) {
	if len(p.Inputs) > 0 {
		p.Inputs[0].Event = events.AgentStopped{LastMessage: "scribbled"}
	}
	return observer.Reply{Form: events.FormXML}, nil
}
