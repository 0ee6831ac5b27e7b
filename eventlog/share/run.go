package share

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// errPanic is returned where this program did what none of its authors thought of.
var errPanic = errors.New("share: an error in the program; it is tried again")

// Run carries the own log to the others and theirs here, until ctx is done. It returns nil then, and an error where the own log
// cannot be read any more, ErrRenewed, or where a part of it panicked; then it may be called again. A store that does not answer, a log
// that is forked and whatever else may be stands in Status.
func (s *Share) Run(ctx context.Context) error {
	if s.isRenewed() {
		return ErrRenewed
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	errs := make(chan error, 3)
	for _, run := range []func(context.Context) error{s.ship, s.rounds, s.watch} {
		wg.Go(func() {
			if err := s.guarded(ctx, run); err != nil {
				errs <- err
				stop()
			}
		})
	}
	wg.Wait()
	close(errs)
	var all []error
	for err := range errs {
		all = append(all, err)
	}
	return errors.Join(all...)
}

// guarded is run, whose panic is an error: what another machine sent must not end the program that this home records with.
func (s *Share) guarded(ctx context.Context, run func(context.Context) error) (err error) {
	defer func() {
		if why := recover(); why != nil {
			err = fmt.Errorf("%w: %v", errPanic, why)
			s.problems.set("sharing", err) // for the rest of this life: nobody knows what it leaves undone
			s.cfg.Log.Error("sharing panicked", "err", err, "stack", string(debug.Stack()))
		}
	}()
	return run(ctx)
}
