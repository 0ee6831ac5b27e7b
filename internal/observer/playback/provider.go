package playback

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/sleep"
)

// Name is the provider's name in streams and settings.
const Name = "playback"

// Provider plays a script. It is safe for concurrent use; it keeps no conversation, only its place in the script.
type Provider struct {
	model  string
	limits policy.BatchLimits

	mu        sync.Mutex // guards the fields below
	calls     int
	first     time.Time       // of the first call
	remaining []remainingStep // what is not used up, in the order of the script
}

// remainingStep is a step and how often it may still be taken; below 0: without an end.
type remainingStep struct {
	step  Step
	times int
}

var _ observer.Provider = (*Provider)(nil)

// New returns a provider at the beginning of s, which is not read after that.
func New(s *Script) *Provider {
	p := &Provider{model: cmp.Or(s.Model, "script"), limits: s.BatchLimits}
	for _, step := range s.Steps {
		p.remaining = append(p.remaining, remainingStep{step: step, times: step.times()})
	}
	return p
}

// Name returns the constant Name.
func (*Provider) Name() string { return Name }

// Model returns the script's model.
func (p *Provider) Model() string { return p.model }

// BatchLimits returns the script's limits.
func (p *Provider) BatchLimits() policy.BatchLimits { return p.limits }

// Complete takes the step that is due and does what it says. A call that is cancelled already takes none; one that is
// cancelled while it waits has taken its step.
func (p *Provider) Complete(ctx context.Context, q observer.Prompt) (observer.Reply, error) {
	if err := ctx.Err(); err != nil {
		return observer.Reply{}, err
	}
	step, ok := p.take(q)
	if !ok {
		return observer.Reply{}, &observer.Failure{Class: events.FailSetup, Message: "the script has no step for this call"}
	}
	if err := sleep.For(ctx, step.Delay); err != nil {
		return observer.Reply{}, err
	}
	switch a := step.Action.(type) {
	case Text:
		return observer.Reply{
			Text: events.NewOutput(a.Text), Form: cmp.Or(a.Form, events.FormXML), StopReason: cmp.Or(a.StopReason, "end_turn"),
			Bill: events.Bill{Usage: a.Usage, Cost: a.Cost, Calls: max(1, a.Calls), Model: a.Model},
		}, nil
	case Failure:
		return observer.Reply{}, a.failure(time.Now())
	case Crash:
		return observer.Reply{}, errors.New(string(a))
	case Panic:
		panic(string(a))
	}
	<-ctx.Done()
	return observer.Reply{}, ctx.Err()
}

// take returns the first step that is left for q and counts it.
func (p *Provider) take(q observer.Prompt) (Step, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.calls++; p.calls == 1 {
		p.first = now
	}
	i := slices.IndexFunc(p.remaining, func(l remainingStep) bool { return l.step.When.holds(p.calls, now.Sub(p.first), q) })
	if i < 0 {
		return Step{}, false
	}
	step := p.remaining[i].step
	if p.remaining[i].times--; p.remaining[i].times == 0 {
		p.remaining = slices.Delete(p.remaining, i, i+1)
	}
	return step, true
}

func (w When) holds(call int, since time.Duration, q observer.Prompt) bool {
	return (w.Kind == "" || w.Kind == q.Kind) && (w.Call == 0 || w.Call == call) &&
		since >= w.From && (w.Until == 0 || since < w.Until) &&
		(w.Contains == "" || slices.ContainsFunc(q.Inputs, func(in observer.Input) bool { return says(in.Event, w.Contains) }))
}

// says reports whether a captured text of an input contains words.
func says(e events.Event, words string) bool {
	switch e := e.(type) {
	case events.ToolUsed:
		return strings.Contains(e.Input, words) || strings.Contains(e.Output, words)
	case events.ContextCompacted:
		return strings.Contains(e.Summary, words)
	case events.AgentStopped:
		return strings.Contains(e.LastMessage, words)
	}
	return false
}

func (f Failure) failure(now time.Time) *observer.Failure {
	typed := &observer.Failure{
		Class: f.Class, Status: f.Status, Message: f.Message, Output: events.NewOutput(f.Output), Form: f.Form,
		Bill: events.Bill{Usage: f.Usage, Cost: f.Cost, Calls: f.Calls, Model: f.Model},
	}
	if f.ResetsIn > 0 {
		typed.ResetsAt = now.Add(f.ResetsIn)
	}
	return typed
}
