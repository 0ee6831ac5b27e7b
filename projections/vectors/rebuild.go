package vectors

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cmemd/cmemd/internal/transient"
)

var (
	// ErrNotRunning is a Rebuild without a Run that would do it.
	ErrNotRunning = transient.Mark(errors.New("vectors: nothing fills them"))

	// ErrPaused is an endpoint that fails while vectors are made anew. What is missing is filled when it answers again.
	ErrPaused = transient.Mark(errors.New("vectors: the endpoint fails; what is missing is filled when it answers again"))

	// errAsked is why Run begins anew where Rebuild wants it.
	errAsked = errors.New("vectors: it was asked for")
)

// Rebuild has all vectors made anew: the endpoint is asked again for every row, and searches find only what has its vector
// meanwhile. It returns when each row of the log has its vector or was refused; progress gets how many are done, of how many. If
// ctx ends or the endpoint is paused it returns earlier, and Run fills the rest. If the endpoint does not answer the first question
// the error is a *Failure, and nothing is changed. Other errors are ctx's, ErrNotRunning, ErrPaused, those of the log, and why Run
// has ended.
func (v *Vectors) Rebuild(ctx context.Context, progress func(done, total int)) error {
	last, err := v.log.Last(ctx)
	if err != nil {
		return fmt.Errorf("vectors: rebuild: %w", err)
	}
	v.mu.Lock()
	before, restart := v.begun, v.restart
	v.mu.Unlock()
	if restart == nil {
		return ErrNotRunning
	}
	if v.Trouble() != nil {
		if before, restart, err = v.goOn(ctx, before); err != nil {
			return err
		}
	}
	if _, err := v.cfg.embed(ctx, requestTimeout, "no answer", []string{probe}); ctx.Err() != nil {
		return fmt.Errorf("vectors: rebuild: %w", ctx.Err())
	} else if err != nil {
		return err
	}
	v.pause.answered()
	restart(errAsked)
	for {
		v.mu.Lock()
		moved, failed := v.moved, v.failed
		again, whole := v.begun > before, v.followed >= last && len(v.pending) == 0
		v.mu.Unlock()
		st := v.Stats()
		switch {
		case failed != nil:
			return failed
		case again && whole:
			progress(st.Total, st.Total)
			return nil
		case again && st.Paused != "":
			return fmt.Errorf("%w: %s", ErrPaused, st.Paused)
		case again:
			progress(st.Filled+st.Refused, st.Total)
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return fmt.Errorf("vectors: rebuild: %w", ctx.Err())
		}
	}
}

// goOnLimit is how long a Run that was in trouble may take to begin again once Hasten was called.
const goOnLimit = 5 * time.Second

// goOn ends the pause of a Run that is in trouble, and returns how often it has begun, and what restarts it, once it has begun again.
func (v *Vectors) goOn(ctx context.Context, before int) (begun int, restart context.CancelCauseFunc, err error) {
	limited, cancel := context.WithTimeout(ctx, goOnLimit)
	defer cancel()
	v.progress.Hasten()
	for {
		v.mu.Lock()
		begun, moved := v.begun, v.moved
		restart = v.restart
		v.mu.Unlock()
		if begun > before && restart != nil {
			return begun, restart, nil
		}
		select {
		case <-moved:
		case <-limited.Done():
			if t := v.Trouble(); t != nil && ctx.Err() == nil {
				return 0, nil, fmt.Errorf("vectors: rebuild: %w", t.Err)
			}
			return 0, nil, fmt.Errorf("vectors: rebuild: %w", limited.Err())
		}
	}
}
