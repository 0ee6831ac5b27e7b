package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/cmemd/cmemd/events"
)

// Progress is how far something has come along the log, for those who wait for it. Its zero value has not begun. It is safe for
// concurrent use.
type Progress struct {
	mu      sync.Mutex // guards the fields below
	at      events.Position
	stopped error         // why it goes no further, for good; nil: it does
	trouble *Trouble      // why it goes no further for now; nil: it does
	changed chan struct{} // closed when one of these changes; nil: nobody waits
	hurry   chan struct{} // has a token since somebody began to wait; nil: nobody asked for it

	pause     time.Duration // the last of Retry
	wellSince time.Time     // when the last trouble was over
	awake     chan struct{} // has a token when a pause is to end; nil: there was none
}

// Hurry is where something is received each time that somebody begins to wait, or goes on to. It must be called before that.
func (p *Progress) Hurry() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hurry == nil {
		p.hurry = make(chan struct{}, 1)
	}
	return p.hurry
}

// Position is how far it has come.
func (p *Progress) Position() events.Position {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at
}

// Reach says how far it has come, which may be less than before, and that all is well.
func (p *Progress) Reach(at events.Position) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at = at
	p.well()
	p.wake()
}

// Stop has those who wait return why, because there will be no more; nil lets them wait again.
func (p *Progress) Stop(why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = why
	p.wake()
}

// wake lets go of those who wait. The caller holds mu.
func (p *Progress) wake() {
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// state returns how far p is. changed is nil where nobody needs to wait: p has reached at, or has stopped with err.
func (p *Progress) state(at events.Position) (reached events.Position, changed <-chan struct{}, trouble *Trouble, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at >= at {
		return p.at, nil, nil, nil
	}
	if p.stopped != nil {
		return p.at, nil, nil, p.stopped
	}
	if p.changed == nil {
		p.changed = make(chan struct{})
	}
	if p.hurry != nil {
		signal(p.hurry)
	}
	return p.at, p.changed, p.trouble, nil
}

// Wait returns nil when it has come to at, and how far it is in any case. The error is that of Stop, or ctx.Err(), beside a
// trouble that it is in then: a trouble may pass.
func (p *Progress) Wait(ctx context.Context, at events.Position) (reached events.Position, err error) {
	for {
		reached, changed, trouble, err := p.state(at)
		if changed == nil {
			return reached, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			if trouble != nil {
				return reached, fmt.Errorf("%w: %w: %w", ErrStopped, trouble.Err, ctx.Err())
			}
			return reached, ctx.Err()
		}
	}
}

// WaitUnlessStopped is Wait, but for a trouble, which is its error at once, as ErrStopped.
func (p *Progress) WaitUnlessStopped(ctx context.Context, at events.Position) (reached events.Position, err error) {
	for {
		reached, changed, trouble, err := p.state(at)
		if changed == nil {
			return reached, err
		}
		if trouble != nil {
			return reached, fmt.Errorf("%w: %w", ErrStopped, trouble.Err)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return reached, ctx.Err()
		}
	}
}
