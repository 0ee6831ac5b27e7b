package erasure

import (
	"context"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
)

// retryFirst and retryMost bound how long Run waits before it tries again what failed.
const (
	retryFirst = 5 * time.Second
	retryMost  = 10 * time.Minute
)

// expireEvery is the time between two looks for requests that nobody answered.
const expireEvery = time.Hour

// Run finishes erasures that a crash, an error or a refused session left undone, and lets requests expire. If Retain is set,
// it also erases, once every Every, the payloads of settled inputs that are older than Retain. What fails is logged and
// tried again, and neither task waits for the other to succeed. Run returns nil when ctx is done.
func (e *Eraser) Run(ctx context.Context) error {
	finish, wait := time.Now(), retryFirst // a life before this one may have left something
	expire := finish
	var retain time.Time // zero is never, as of finish
	if e.cfg.Retain > 0 {
		retain = finish
	}
	for ctx.Err() == nil {
		if isDue(finish) {
			finish, wait = e.tryFinish(ctx, wait)
		}
		if isDue(retain) {
			e.tryRetain(ctx)
			retain = time.Now().Add(e.cfg.Every)
		}
		if isDue(expire) {
			e.tryExpire(ctx)
			expire = time.Now().Add(expireEvery)
		}
		if finish.IsZero() && e.state.get().isDue() {
			finish = time.Now().Add(retryFirst)
		}
		e.sleep(ctx, policy.Earlier(expire, policy.Earlier(finish, retain)))
	}
	return nil
}

func isDue(at time.Time) bool { return !at.IsZero() && !time.Now().Before(at) }

// tryFinish returns when to try again, and how long to wait after that; zero: it is finished.
func (e *Eraser) tryFinish(ctx context.Context, wait time.Duration) (again time.Time, next time.Duration) {
	err := e.finish(ctx)
	if err == nil {
		return time.Time{}, retryFirst
	}
	if ctx.Err() == nil {
		e.cfg.Logger.Error("what was being forgotten is not gone yet", "err", err, "again_in", wait)
	}
	return time.Now().Add(wait), min(2*wait, retryMost)
}

func (e *Eraser) tryRetain(ctx context.Context) {
	if err := e.retain(ctx); err != nil && ctx.Err() == nil {
		e.cfg.Logger.Error("what has been kept for long enough is not all erased", "err", err, "again_in", e.cfg.Every)
	}
}

func (e *Eraser) tryExpire(ctx context.Context) {
	if err := e.expire(ctx); err != nil && ctx.Err() == nil {
		e.cfg.Logger.Error("requests to forget could not be looked through", "err", err, "again_in", expireEvery)
	}
}

// sleep returns at a time, zero is never, or when something was left unfinished.
func (e *Eraser) sleep(ctx context.Context, until time.Time) {
	var due <-chan time.Time
	if !until.IsZero() {
		due = time.After(time.Until(until))
	}
	select {
	case <-due:
	case <-e.wake:
	case <-ctx.Done():
	}
}

// leave has Run finish what is left undone. It does not wait.
func (e *Eraser) leave() {
	if !e.state.get().isDue() {
		return
	}
	select {
	case e.wake <- struct{}{}:
	default: // it is awake already
	}
}
