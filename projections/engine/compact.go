package engine

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// compactWait is how long Compact and Forget wait for a Rebuild under way: its half-made copies hold nothing that was forgotten.
const compactWait = 10 * time.Minute

// Compact writes the file anew without unused pages: smaller, and without a trace of what is in no view any more. Reads go
// on meanwhile; the views follow the log again when it returns. It needs room for a second copy. After an error the
// file is as it was, or made anew from the log. Errors: ErrClosed, ErrMoved, ctx.Err(), the file system's.
func (v *Views) Compact(ctx context.Context) error {
	leave, err := v.withoutRebuild(ctx)
	if err != nil {
		return err
	}
	defer leave()
	v.applying.Lock()
	defer v.applying.Unlock()
	if err := v.compact(); err != nil {
		return fmt.Errorf("projections: compact: %w", err)
	}
	return nil
}

// withoutRebuild waits for a Rebuild under way, and keeps others from beginning until leave is called.
func (v *Views) withoutRebuild(ctx context.Context) (leave func(), err error) {
	limited, cancel := context.WithTimeout(ctx, compactWait)
	defer cancel()
	select {
	case v.rebuilds <- struct{}{}:
		return func() { <-v.rebuilds }, nil
	case <-limited.Done():
		return nil, limited.Err()
	}
}

// compact is Compact. The caller holds applying, so that nothing is written.
func (v *Views) compact() error {
	v.storing.RLock()
	s := v.store
	if s == nil {
		v.storing.RUnlock()
		return ErrClosed
	}
	copied, err := s.Copy()
	v.storing.RUnlock()
	if err != nil {
		v.reportMoved(s, err)
		return err
	}
	v.storing.Lock()
	defer v.storing.Unlock()
	if v.store != s { // closed meanwhile
		return errors.Join(ErrClosed, copied.Discard())
	}
	if err = s.Exchange(copied); errors.Is(err, ErrNotOpen) { // Run makes it anew
		v.report(Damaged("%v", err))
	}
	v.reportMoved(s, err)
	return err
}

// reportMoved has Run end if err is that the file was moved with its folder, and make it anew if it alone was.
func (v *Views) reportMoved(s *store, err error) {
	switch {
	case !errors.Is(err, ErrMoved):
	case s.mark.checkNotMoved() == nil:
		v.report(Damaged("%v", err))
	default:
		v.report(err)
	}
}
