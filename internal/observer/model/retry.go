package model

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/sleep"
)

// maxWait is the longest that a service may have us wait below a turn, which has a minute. A longer wait is a pause, and
// those are made for all sessions at once, above.
const maxWait = 10 * time.Second

// Retryable reports whether the same question may be answered when it is asked once more, soon: the connection broke, the
// service was busy, gave up by itself (408, 504) or had a fault of its own. A pause, a setting or another prompt mends the rest.
func Retryable(f *observer.Failure) bool {
	switch f.Class {
	case events.FailTransport, events.FailLimit, events.FailOverload, events.FailServer:
		return true
	}
	return f.Class == events.FailTimeout && f.Status != 0 // the service gave up, not we
}

// retried asks until there is an answer, a failure that a retry does not mend, or no request left. Retries and other ways
// to ask are counted together, for all of a turn: it sends at most one request and Retries more, or two more where fewer
// retries are wanted, as finding out how a service has to be asked takes as many.
func (t *turn) retried(ctx context.Context, q Question) (observer.Reply, error) {
	for t.asked < t.most() {
		t.asked++
		reply, err := t.cfg.Asker.Ask(ctx, q)
		t.paid.add(q, reply, err)
		failure, failed := errors.AsType[*observer.Failure](err)
		switch {
		case errors.Is(err, ErrAgain):
			continue
		case !failed:
			return reply, err
		}
		t.last = failure
		if t.asked == t.most() || t.retries == t.cfg.Retries || !Retryable(failure) {
			return reply, err
		}
		wait, ok := t.wait(ctx, failure, t.retries)
		if !ok {
			return reply, err
		}
		t.retries++
		if err := sleep.For(ctx, wait); err != nil {
			return observer.Reply{}, err
		}
	}
	if t.last == nil {
		t.last = &observer.Failure{Class: events.FailSetup, Message: "the service refuses every way in which it is asked"}
	}
	return observer.Reply{}, t.last
}

// most is how many requests the turn may send.
func (t *turn) most() int { return 1 + max(2, t.cfg.Retries) }

// wait is how long to wait before the retry that follows try, from 0. It is false where the service asks for more than
// maxWait, or the turn would be over.
func (p *Provider) wait(ctx context.Context, f *observer.Failure, try int) (time.Duration, bool) {
	now := time.Now()
	wait := p.cfg.Backoff << try
	wait += time.Duration((rand.Float64() - 0.5) * float64(wait)) // so that those who failed together do not come back together
	if asked := f.ResetsAt.Sub(now); !f.ResetsAt.IsZero() && asked > 0 {
		if asked > maxWait {
			return 0, false
		}
		wait = asked + wait/10
	}
	if deadline, ok := ctx.Deadline(); ok && now.Add(wait).After(deadline) {
		return 0, false
	}
	return wait, true
}
