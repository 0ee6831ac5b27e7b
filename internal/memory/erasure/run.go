package erasure

import (
	"context"
	"time"
)

// retryFirst and retryMost bound how long Run waits before it tries again what failed.
const (
	retryFirst = 5 * time.Second
	retryMost  = 10 * time.Minute
)

// Run finishes what a crash, an error or a refusal cut off, as often as it takes, and erases from time to time what has been
// kept for long enough, if Retain says so. Neither waits for the other to succeed. It returns nil when ctx is done. What fails
// is logged and tried again.
func (e *Eraser) Run(ctx context.Context) error {
	r := retry{owed: true, wait: retryFirst} // a life before this one may have left something
	var look time.Time                       // when retention looks next
	for ctx.Err() == nil {
		if r.owed && !time.Now().Before(r.at) {
			e.tryFinish(ctx, &r)
		}
		if e.cfg.Retain > 0 && !time.Now().Before(look) {
			e.look(ctx)
			look = time.Now().Add(e.cfg.Every)
			if e.state.get().unfinished() {
				r.want()
			}
		}
		e.await(ctx, &r, look)
	}
	return nil
}

// retry says when finish is tried next.
type retry struct {
	owed bool          // there may be something to finish
	at   time.Time     // not before
	wait time.Duration // before it is tried again if it fails
}

// want has finish tried soon, if it is not to be anyway.
func (r *retry) want() {
	if !r.owed {
		r.owed, r.at = true, time.Now().Add(retryFirst)
	}
}

func (e *Eraser) tryFinish(ctx context.Context, r *retry) {
	err := e.finish(ctx)
	if err == nil {
		*r = retry{wait: retryFirst}
		return
	}
	if ctx.Err() == nil {
		e.cfg.Logger.Error("what was being forgotten is not gone yet", "err", err, "again_in", r.wait)
	}
	r.at, r.wait = time.Now().Add(r.wait), min(2*r.wait, retryMost)
}

func (e *Eraser) look(ctx context.Context) {
	if err := e.retain(ctx); err != nil && ctx.Err() == nil {
		e.cfg.Logger.Error("what has been kept for long enough is not all erased", "err", err, "again_in", e.cfg.Every)
	}
}

// await returns when there is something to do: finish is due, retention is, or something was left unfinished.
func (e *Eraser) await(ctx context.Context, r *retry, look time.Time) {
	var due <-chan time.Time // nil: nothing ever is
	if r.owed || e.cfg.Retain > 0 {
		next := look
		if r.owed && (e.cfg.Retain <= 0 || r.at.Before(look)) {
			next = r.at
		}
		t := time.NewTimer(time.Until(next))
		defer t.Stop()
		due = t.C
	}
	select {
	case <-due:
	case <-e.wake:
		r.want()
	case <-ctx.Done():
	}
}

// leave has Run finish what is left undone. It does not wait.
func (e *Eraser) leave() {
	if !e.state.get().unfinished() {
		return
	}
	select {
	case e.wake <- struct{}{}:
	default: // it was told already
	}
}

func (e *Eraser) rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
