package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/clip"
	"github.com/cmemd/cmemd/internal/observer"
)

const (
	// MaxOutput is the longest output in bytes that is parsed: what the contract is tested with. It keeps an event well
	// below events.MaxPayload.
	MaxOutput = 10 << 20

	// KeptOutput is how many bytes of an output are kept that came with a failure.
	KeptOutput = 1 << 20

	// keptMessage is how many bytes of what is said of a failure are kept.
	keptMessage = 500
)

// Ask puts p to o and waits for limit at most. A failure of the provider or of the turn is a *observer.Failure, also where
// the time was up or the output is too long. ctx.Err() is a stop, and any other error a crash, beside which the reply says
// what was paid all the same.
func Ask(ctx context.Context, o observer.Provider, p observer.Prompt, limit time.Duration) (observer.Reply, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	reply, err := o.Complete(limited, p)
	_, typed := errors.AsType[*observer.Failure](err)
	switch {
	case err == nil && reply.Text.Len() > MaxOutput:
		return observer.Reply{}, &observer.Failure{
			Class: events.FailTruncated, Message: fmt.Sprintf("an output of %d bytes, at most %d", reply.Text.Len(), MaxOutput),
			Output: reply.Text.Clip(KeptOutput), Form: reply.Form, Bill: billOf(o, reply.Bill, 1),
		}
	case err != nil && !typed && limited.Err() != nil && ctx.Err() == nil:
		return observer.Reply{}, &observer.Failure{
			Class: events.FailTimeout, Message: fmt.Sprintf("no answer within %v", limit), Bill: reply.Bill,
		}
	}
	return reply, err
}

// Result is what came of a turn.
type Result struct {
	Answer *session.Answer    // parsed and grounded; its At and the latency are the caller's to say
	Failed *events.TurnFailed // else; beside a crash it says what was paid
}

// Bill is what the turn cost, however it ended.
func (r Result) Bill() events.Bill {
	switch {
	case r.Answer != nil:
		return r.Answer.Received.Bill()
	case r.Failed != nil:
		return r.Failed.Bill()
	}
	return events.Bill{}
}

// Result says what the reply and the error of Ask come to, where o was asked p and its observations may be of types. The
// error is a crash, or a stop. A cut output of a single input is all that can be had: what is closed of it is kept.
func (t *Pipeline) Result(ctx context.Context, o observer.Provider, types observer.Types, p observer.Prompt, reply observer.Reply, err error) (Result, error) {
	if err == nil {
		return Result{Answer: t.answer(ctx, o, types, p, reply)}, nil
	}
	f, typed := errors.AsType[*observer.Failure](err)
	if !typed {
		paid := events.TurnFailed{Turn: p.Turn}.WithBill(billOf(o, reply.Bill, 0))
		return Result{Failed: &paid}, err
	}
	if f.Class == events.FailTruncated && len(p.Inputs) == 1 {
		cut := observer.Reply{
			Text: f.Output.Clip(MaxOutput), Form: cmp.Or(f.Form, events.FormXML), StopReason: string(f.Class), Bill: f.Bill,
		}
		if a := t.answer(ctx, o, types, p, cut); len(a.Observations) > 0 || a.Summary != nil {
			return Result{Answer: a}, nil
		}
	}
	failed := events.TurnFailed{
		Turn: p.Turn, Class: f.Class, Status: f.Status, ResetsAt: f.ResetsAt, Message: clip.Head(observer.Scrub(f.Message), keptMessage),
		Output: f.Output.Clip(KeptOutput), Form: formOf(f), Provider: o.Name(),
	}.WithBill(billOf(o, f.Bill, 0))
	return Result{Failed: &failed}, nil
}

// billOf is b as it is recorded: at least calls requests were sent, and a model is named where it is not the one that was
// asked.
func billOf(o observer.Provider, b events.Bill, calls int) events.Bill {
	b.Calls = max(calls, b.Calls)
	if b.Model == o.Model() {
		b.Model = ""
	}
	return b
}

// formOf is the form of an output that came with a failure; empty: there is no output.
func formOf(f *observer.Failure) events.Form {
	if f.Output.IsZero() {
		return ""
	}
	return cmp.Or(f.Form, events.FormXML)
}
