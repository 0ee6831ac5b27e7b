package actors

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/observer"
)

// observerActor does one turn at a time. The work is done in a goroutine under a context that stopping cancels, so
// that the actor can be stopped at any moment. It knows nothing from one turn to the next.
type observerActor struct {
	sys    *System
	cancel context.CancelFunc
}

// Receive starts work, and crashes when the work did: its parent supervises.
func (o *observerActor) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case prepare:
		parent, root := c.Parent(), o.sys.root
		o.work(c, func(ctx context.Context) error {
			p, err := o.sys.load(ctx, m)
			if ctx.Err() == nil {
				root.Send(parent, prepared{turn: m.turn, prompt: p, err: err})
			}
			return nil
		})
	case ask:
		parent, root := c.Parent(), o.sys.root
		o.work(c, func(ctx context.Context) error {
			out, err := o.sys.ask(ctx, m.prompt)
			if err == nil && ctx.Err() == nil {
				root.Send(parent, out)
			}
			return err
		})
	case panicked:
		panic(m.reason)
	case *actor.Stopping, *actor.Restarting:
		if o.cancel != nil {
			o.cancel()
		}
	}
}

// work runs do in a goroutine. A panic or an error of do comes back as a message that crashes this actor, unless it was
// cancelled.
func (o *observerActor) work(c actor.Context, do func(context.Context) error) {
	if o.cancel != nil {
		o.cancel()
	}
	ctx, cancel := context.WithCancel(o.sys.ending)
	o.cancel = cancel
	self, root := c.Self(), o.sys.root
	o.sys.tasks.Go(func() {
		defer cancel()
		if err := protect(ctx, do); err != nil && ctx.Err() == nil {
			root.Send(self, panicked{reason: err.Error()})
		}
	})
}

func protect(ctx context.Context, do func(context.Context) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, clip(string(debug.Stack()), 2000))
		}
	}()
	return do(ctx)
}

// ask puts the prompt to the provider and judges the answer. An error is a crash.
func (s *System) ask(ctx context.Context, p observer.Prompt) (outcome, error) {
	limited, cancel := context.WithTimeout(ctx, s.cfg.TurnTimeout)
	defer cancel()
	began := s.cfg.Now()
	reply, err := s.cfg.Provider.Complete(limited, p)
	latency := s.cfg.Now().Sub(began)
	var failure *observer.Failure
	switch {
	case err == nil:
		return s.judge(ctx, p, reply, latency), nil
	case errors.As(err, &failure):
		return s.failed(ctx, p, failure, latency), nil
	case limited.Err() != nil && ctx.Err() == nil:
		return s.failed(ctx, p, &observer.Failure{
			Class: events.FailTimeout, Message: fmt.Sprintf("no answer within %v", s.cfg.TurnTimeout),
		}, latency), nil
	}
	return outcome{}, err
}

// failed says what a typed failure comes to. A cut output of a single input is all that can be had: its closed blocks
// are kept.
func (s *System) failed(ctx context.Context, p observer.Prompt, f *observer.Failure, latency time.Duration) outcome {
	if f.Class == events.FailTruncated && len(p.Inputs) == 1 && f.Output != "" {
		return s.judge(ctx, p, observer.Reply{Text: f.Output, Form: events.FormXML, StopReason: string(f.Class)}, latency)
	}
	return outcome{turn: p.Turn, failed: &events.TurnFailed{
		Turn: p.Turn, Class: f.Class, Status: f.Status, ResetsAt: f.ResetsAt, Message: clip(f.Message, 500),
		Output: f.Output, Provider: s.cfg.Provider.Name(),
	}}
}
