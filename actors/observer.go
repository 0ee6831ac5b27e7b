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
	"github.com/cmemd/cmemd/internal/observer/turn"
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
			p, err := o.sys.pipeline.Load(ctx, m.Request)
			p.Budget = turn.Budget(p.Size(), o.sys.cfg.Rules.Batch.MaxBytes, m.Work.Cuts)
			if ctx.Err() == nil {
				root.Send(parent, prepared{turn: m.Turn, prompt: p, notable: o.sys.countNotable(p), trivial: o.sys.isTrivial(p), err: err})
			}
			return nil
		})
	case ask:
		parent, root := c.Parent(), o.sys.root
		o.work(c, func(ctx context.Context) error {
			costSent := false // whoever is sent the cost calls leave
			o.sys.asked.enter()
			defer func() {
				if !costSent {
					o.sys.asked.leave()
				}
			}()
			out, err := o.sys.ask(ctx, m.route, m.prompt)
			switch {
			case ctx.Err() != nil:
				costSent = o.sys.sendCost(parent, out)
			case err == nil:
				root.Send(parent, out)
			case out.Failed != nil:
				root.Send(parent, turnCost{failed: *out.Failed})
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

// countNotable counts the inputs of a prompt that an observer should have something to say about. A figure is not worth a
// session: where it cannot be had, it is 0.
func (s *System) countNotable(p observer.Prompt) (n int) {
	defer recoverWith(s, &n, 0, "cannot tell what is notable in a turn", "turn", p.Turn)
	return p.Notable()
}

// isTrivial reports whether all inputs of an observation turn say so little that the tier for such will do.
func (s *System) isTrivial(p observer.Prompt) (yes bool) {
	defer recoverWith(s, &yes, false, "cannot tell whether a turn is trivial", "turn", p.Turn)
	return s.cfg.IsTrivial != nil && p.Kind == events.TurnObservation && len(p.Inputs) > 0 && s.cfg.IsTrivial(p.Inputs)
}

// recoverWith must be deferred. If the function that defers it panics, it logs message and args with the panic, and sets result
// to fallback.
func recoverWith[T any](s *System, result *T, fallback T, message string, args ...any) {
	if r := recover(); r != nil {
		s.cfg.Logger.Error(message, append(args, "err", r)...)
		*result = fallback
	}
}

// work runs do in a goroutine. A panic or an error of do comes back as a message that crashes this actor, unless it was
// cancelled.
func (o *observerActor) work(c actor.Context, do func(context.Context) error) {
	if o.cancel != nil {
		o.cancel()
	}
	self, root := c.Self(), o.sys.root
	o.cancel = o.sys.begin(func(ctx context.Context) {
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

// ask puts the prompt to o and says what came of it. An error is a crash, beside which the outcome says what was paid all
// the same.
func (s *System) ask(ctx context.Context, o *Route, p observer.Prompt) (outcome, error) {
	began := s.cfg.Now()
	reply, err := turn.Ask(ctx, o, p, s.cfg.TurnTimeout)
	now := s.cfg.Now()
	r, err := s.pipeline.Result(ctx, o, o.typeIDs(), p, reply, err)
	if a := r.Answer; a != nil {
		a.At, a.Received.LatencyMS = now, now.Sub(began).Milliseconds()
		s.noteTree(p.Cwd, a.Happened)
	}
	return outcome{turn: p.Turn, Result: r}, err
}

// maxDiskEvidenceAge is how old an event may be for the disk to still tell of it: a history that is read later says nothing about files
// as they are.
const maxDiskEvidenceAge = time.Minute

// noteTree has the tracker look at a session's working tree in the background, if what just happened there is recent.
func (s *System) noteTree(dir string, at time.Time) {
	if s.cfg.Tracker == nil || dir == "" || s.cfg.Now().Sub(at) > maxDiskEvidenceAge {
		return
	}
	s.begin(func(ctx context.Context) { s.cfg.Tracker.Note(ctx, dir) })
}
