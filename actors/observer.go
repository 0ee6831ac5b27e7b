package actors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/evidence"
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
			p.Budget = budget(p.Size(), o.sys.cfg.Rules.Wish.MaxBytes, m.work.Cuts)
			if ctx.Err() == nil {
				root.Send(parent, prepared{turn: m.turn, prompt: p, notable: o.sys.notable(p), trivial: o.sys.trivial(p), err: err})
			}
			return nil
		})
	case ask:
		parent, root := c.Parent(), o.sys.root
		o.work(c, func(ctx context.Context) error {
			told := false
			o.sys.asked.enter()
			defer func() {
				if !told {
					o.sys.asked.leave()
				}
			}()
			out, err := o.sys.ask(ctx, m.offer, m.prompt)
			switch {
			case ctx.Err() != nil:
				told = o.sys.tellCost(parent, out)
			case err == nil:
				root.Send(parent, out)
			case out.failed != nil:
				root.Send(parent, paid{failed: *out.failed})
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

// budget is how many of size bytes may be sent of an input that was too long alone, cuts times: half of what there was
// each time, where a wish bounds what there was. 0: as many as the provider likes.
func budget(size, wish, cuts int) int {
	if cuts == 0 {
		return 0
	}
	if wish > 0 {
		size = min(size, wish)
	}
	return max(1, size>>cuts)
}

// notable counts the inputs of a prompt that an observer should have something to say about. A figure is not worth a
// session: where it cannot be had, it is 0.
func (s *System) notable(p observer.Prompt) (n int) {
	defer func() {
		if r := recover(); r != nil {
			s.cfg.Logger.Error("cannot tell what is notable in a turn", "turn", p.Turn, "err", r)
			n = 0
		}
	}()
	for _, in := range p.Inputs {
		if t, ok := in.Event.(events.ToolUsed); ok && evidence.Notable(t) {
			n++
		}
	}
	return n
}

// trivial reports whether all inputs of an observation turn say so little that the tier for such will do.
func (s *System) trivial(p observer.Prompt) (yes bool) {
	defer func() {
		if r := recover(); r != nil {
			s.cfg.Logger.Error("cannot tell whether a turn is trivial", "turn", p.Turn, "err", r)
			yes = false
		}
	}()
	return s.cfg.IsTrivial != nil && p.Kind == events.TurnObservation && len(p.Inputs) > 0 && s.cfg.IsTrivial(p.Inputs)
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
	o.sys.turns.Go(func() {
		defer cancel()
		if reason := o.protect(ctx, do); reason != "" && ctx.Err() == nil {
			root.Send(self, panicked{reason: reason})
		}
	})
}

// protect returns why do crashed, in words that are safe to keep: what a panic or an untyped error says may hold a key, an
// address or a piece of the prompt, and goes to the debug log alone.
func (o *observerActor) protect(ctx context.Context, do func(context.Context) error) (reason string) {
	defer func() {
		if r := recover(); r != nil {
			reason = fmt.Sprintf("panic of type %T", r)
			if e, ok := r.(runtime.Error); ok {
				reason = "panic: " + e.Error()
			}
			o.sys.cfg.Logger.Debug("observer panicked", "err", r, "stack", string(debug.Stack()))
		}
	}()
	err, crash := do(ctx), (*observer.Crash)(nil)
	switch {
	case errors.As(err, &crash):
		return cmp.Or(crash.Message, "crashed, and did not say how")
	case err != nil:
		o.sys.cfg.Logger.Debug("observer ended with an untyped error", "err", err)
		return fmt.Sprintf("ended with an untyped error (%T)", err)
	}
	return ""
}

const (
	// maxOutput is the longest output in bytes that is judged: what the contract is tested with. It keeps an event well
	// below events.MaxPayload.
	maxOutput = 10 << 20

	// keptOutput is how much of an output is kept that came with a failure.
	keptOutput = 1 << 20
)

// ask puts the prompt to o and judges the answer. An error is a crash, beside
// which the outcome says what was paid all the same.
func (s *System) ask(ctx context.Context, o *Offer, p observer.Prompt) (outcome, error) {
	limited, cancel := context.WithTimeout(ctx, s.cfg.TurnTimeout)
	defer cancel()
	began := s.cfg.Now()
	reply, err := o.Complete(limited, p)
	latency := s.cfg.Now().Sub(began)
	var failure *observer.Failure
	switch {
	case err == nil && reply.Text.Len() > maxOutput:
		return s.failed(ctx, o, p, &observer.Failure{
			Class: events.FailTruncated, Message: fmt.Sprintf("an output of %d bytes, at most %d", reply.Text.Len(), maxOutput),
			Output: reply.Text.Clip(keptOutput), Form: reply.Form, Bill: o.bill(reply.Bill, 1),
		}, latency), nil
	case err == nil:
		return s.judge(ctx, o, p, reply, latency), nil
	case errors.As(err, &failure):
		return s.failed(ctx, o, p, failure, latency), nil
	case limited.Err() != nil && ctx.Err() == nil:
		return s.failed(ctx, o, p, &observer.Failure{
			Class: events.FailTimeout, Message: fmt.Sprintf("no answer within %v", s.cfg.TurnTimeout), Bill: reply.Bill,
		}, latency), nil
	}
	paid := events.TurnFailed{Turn: p.Turn}.WithBill(o.bill(reply.Bill, 0))
	return outcome{turn: p.Turn, failed: &paid}, err
}

// failed says what a typed failure comes to. A cut output of a single input is all that can be had: what is closed
// of it is kept.
func (s *System) failed(ctx context.Context, o *Offer, p observer.Prompt, f *observer.Failure, latency time.Duration) outcome {
	if f.Class == events.FailTruncated && len(p.Inputs) == 1 {
		cut := observer.Reply{
			Text: f.Output.Clip(maxOutput), Form: cmp.Or(f.Form, events.FormXML), StopReason: string(f.Class), Bill: f.Bill,
		}
		if out := s.judge(ctx, o, p, cut, latency); len(out.answer.Observations) > 0 || out.answer.Summary != nil {
			return out
		}
	}
	failed := events.TurnFailed{
		Turn: p.Turn, Class: f.Class, Status: f.Status, ResetsAt: f.ResetsAt, Message: clip(observer.Scrub(f.Message), 500),
		Output: f.Output.Clip(keptOutput), Form: formOf(f), Provider: o.Name(),
	}.WithBill(o.bill(f.Bill, 0))
	return outcome{turn: p.Turn, failed: &failed}
}
