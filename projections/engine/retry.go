package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/cmemd/cmemd/eventlog"
)

const (
	// shortestPause is how long nothing is tried after a first failure. Each that follows doubles it, up to longestPause: a full
	// disk is mostly seen to within minutes.
	shortestPause = time.Second
	longestPause  = time.Minute
)

// Trouble is why something goes no further along the log for now, and when it tries again.
type Trouble struct {
	Err     error
	RetryAt time.Time // zero: it does not
}

// String is for people.
func (t *Trouble) String() string {
	if t.RetryAt.IsZero() {
		return "because " + t.Err.Error()
	}
	return fmt.Sprintf("trying again at %s because %v", t.RetryAt.Format(time.TimeOnly), t.Err)
}

// Trouble is why it goes no further; nil: it does.
func (p *Progress) Trouble() *Trouble {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.stopped != nil:
		return &Trouble{Err: p.stopped}
	case p.trouble != nil:
		t := *p.trouble
		return &t
	}
	return nil
}

// Retry runs once again and again, with growing pauses, until ctx is done; then it returns nil. Meanwhile there is Trouble,
// until something calls Reach or Well. It returns errors that no other try mends: those that are given, and that the log was
// closed. logger gets a line for each.
func (p *Progress) Retry(ctx context.Context, logger *slog.Logger, once func(context.Context) error, final ...error) error {
	final = append(final, eventlog.ErrClosed, eventlog.ErrFailed)
	for {
		err := once(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err == nil || isAny(err, final) {
			return err
		}
		again, awake := p.fail(err)
		logger.Warn("it goes no further for now; what happens is captured all the same", "err", err, "again", again)
		if !pauseUntil(ctx, again, awake) {
			return nil
		}
	}
}

// isAny reports whether err is one of others.
func isAny(err error, others []error) bool {
	return slices.ContainsFunc(others, func(o error) bool { return errors.Is(err, o) })
}

// pauseUntil waits for a time, or to be woken. It reports false when ctx is done.
func pauseUntil(ctx context.Context, at time.Time, awake <-chan struct{}) bool {
	t := time.NewTimer(time.Until(at))
	defer t.Stop()
	select {
	case <-t.C:
	case <-awake:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// fail begins a pause, longer than the one before it unless all was well for long.
func (p *Progress) fail(err error) (again time.Time, awake <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.trouble == nil && now.Sub(p.wellSince) >= longestPause {
		p.pause = 0
	}
	p.pause = max(shortestPause, min(2*p.pause, longestPause))
	again = now.Add(p.pause)
	p.trouble = &Trouble{Err: err, RetryAt: again}
	if p.awake == nil {
		p.awake = make(chan struct{}, 1)
	}
	select {
	case <-p.awake: // of an earlier pause
	default:
	}
	p.wake()
	return again, p.awake
}

// Hasten ends a pause of Retry.
func (p *Progress) Hasten() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.trouble != nil {
		signal(p.awake)
	}
}

// Well says that what it was in trouble for is over.
func (p *Progress) Well() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.well()
}

// well is Well. The caller holds mu.
func (p *Progress) well() {
	if p.trouble != nil {
		p.trouble, p.wellSince = nil, time.Now()
	}
}
