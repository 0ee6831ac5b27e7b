package providertest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/sleep"
)

// Step answers one call of a Scripted provider. Call counts from 1. A step that waits must end when ctx does.
type Step func(ctx context.Context, call int, p observer.Prompt) (observer.Reply, error)

// Text answers with text, as a model does.
func Text(text string) Step {
	return func(context.Context, int, observer.Prompt) (observer.Reply, error) {
		return observer.Reply{Text: events.NewOutput(text), Form: events.FormXML, StopReason: "end_turn"}, nil
	}
}

// Answer answers with r as it is: for usage, forms and stop reasons.
func Answer(r observer.Reply) Step {
	return func(context.Context, int, observer.Prompt) (observer.Reply, error) { return r, nil }
}

// Fail fails as a provider or a turn does. Each call gets its own copy of f.
func Fail(f observer.Failure) Step {
	return func(context.Context, int, observer.Prompt) (observer.Reply, error) {
		own := f
		return observer.Reply{}, &own
	}
}

// Crash returns err, which is no *observer.Failure: a crash that belongs to the supervisor.
func Crash(err error) Step {
	return func(context.Context, int, observer.Prompt) (observer.Reply, error) { return observer.Reply{}, err }
}

// Panic panics with v.
func Panic(v any) Step {
	return func(context.Context, int, observer.Prompt) (observer.Reply, error) { panic(v) }
}

// Hang answers nothing until ctx is done, and then with ctx.Err().
func Hang() Step {
	return func(ctx context.Context, _ int, _ observer.Prompt) (observer.Reply, error) {
		<-ctx.Done()
		return observer.Reply{}, ctx.Err()
	}
}

// After takes step when d has passed, or returns ctx.Err() if ctx is done first.
func After(d time.Duration, step Step) Step {
	return func(ctx context.Context, call int, p observer.Prompt) (observer.Reply, error) {
		if err := sleep.For(ctx, d); err != nil {
			return observer.Reply{}, err
		}
		return step(ctx, call, p)
	}
}

// Scripted is an observer.Provider whose answers are set beforehand. It records what it was asked. It is safe for
// concurrent use and holds no goroutine and no channel, so that it may live inside or outside a synctest bubble.
type Scripted struct {
	// Called, Answering and Limits are what Name, Model and BatchLimits return; NewScripted sets them to "scripted", "script"
	// and policy.ModelLimits. They may be changed before the first use.
	Called    string
	Answering string
	Limits    policy.BatchLimits

	steps []Step

	mu         sync.Mutex // guards the fields below
	prompts    []observer.Prompt
	running    int
	maxRunning int
}

// NewScripted returns a provider that takes one step a call, in the order of the calls, and the last one ever after.
// Without steps it answers nothing at all, which is an idle output.
func NewScripted(steps ...Step) *Scripted {
	if len(steps) == 0 {
		steps = []Step{Text("")}
	}
	return &Scripted{Called: "scripted", Answering: "script", Limits: policy.ModelLimits(), steps: slices.Clone(steps)}
}

// Name returns Called.
func (s *Scripted) Name() string { return s.Called }

// Model returns Answering.
func (s *Scripted) Model() string { return s.Answering }

// BatchLimits returns Limits.
func (s *Scripted) BatchLimits() policy.BatchLimits { return s.Limits }

// Complete records p and takes the step of this call. A context that is done already is not recorded: no service
// would have been asked.
func (s *Scripted) Complete(ctx context.Context, p observer.Prompt) (observer.Reply, error) {
	if err := ctx.Err(); err != nil {
		return observer.Reply{}, err
	}
	call := s.begin(p)
	defer s.end()
	return s.steps[min(call, len(s.steps))-1](ctx, call, p)
}

func (s *Scripted) begin(p observer.Prompt) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prompts = append(s.prompts, p)
	s.running++
	s.maxRunning = max(s.maxRunning, s.running)
	return len(s.prompts)
}

func (s *Scripted) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
}

// Prompts lists what was asked so far, in the order of the calls. The slice is the caller's.
func (s *Scripted) Prompts() []observer.Prompt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.prompts)
}

// Calls counts the calls so far, those that are still running too.
func (s *Scripted) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.prompts)
}

// Running counts the calls that have not returned.
func (s *Scripted) Running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}

// MostRunning is the highest number of calls that ever ran at once.
func (s *Scripted) MostRunning() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.maxRunning
}
