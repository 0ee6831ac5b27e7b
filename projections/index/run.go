package index

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

const (
	// batchPause is how long to wait at most after a batch: what comes meanwhile goes into one segment, not into many.
	batchPause = 50 * time.Millisecond

	// rebuildEvery is how often damage found by searches may lead to a rebuild: damage that a rebuild does not heal is
	// no damage of the files.
	rebuildEvery = 5 * time.Minute
)

// CatchUp brings the index to the log's end, and returns then. The error is ctx's, the log's, or of writing.
func (x *Index) CatchUp(ctx context.Context) error {
	if err := x.catchUp(ctx); err != nil {
		return err
	}
	return x.purge(ctx)
}

func (x *Index) catchUp(ctx context.Context) error {
	if err := x.lock(ctx); err != nil {
		return err
	}
	defer x.unlock()
	if _, err := x.current(); err != nil {
		return err
	}
	if err := x.builder.catchUp(ctx, x.progress.Reach); err != nil {
		return err
	}
	x.progress.Reach(x.builder.next.Position)
	return nil
}

// Run applies records as they are appended. It returns nil when ctx is done. An index that turns out to be damaged is made anew;
// what cannot be read or written is tried again with growing pauses (see Trouble). Errors: ErrClosed, engine.ErrMoved, that the log
// was closed. It is called once at a time.
func (x *Index) Run(ctx context.Context) error {
	var h healing
	once := func(ctx context.Context) error { return x.runHealing(ctx, &h) }
	err := x.progress.Retry(ctx, x.logger, once, ErrClosed, engine.ErrMoved)
	if err != nil {
		x.progress.Stop(err)
	}
	return err
}

// healing is what one Run has made anew, and is to.
type healing struct {
	last time.Time // when it did
	owed error     // damage that was met; nil: none
	met  *store    // in which
}

// runHealing follows the log until something is wrong that is no damage, or that was healed within rebuildEvery.
func (x *Index) runHealing(ctx context.Context, h *healing) error {
	for {
		if h.owed != nil {
			if err := x.heal(ctx, h); err != nil {
				return err
			}
		}
		err := x.runOnce(ctx)
		if !errors.Is(err, errDamaged) || ctx.Err() != nil {
			return err
		}
		h.owed, h.met = err, x.store.Load()
	}
}

// heal begins anew with what is owed.
func (x *Index) heal(ctx context.Context, h *healing) error {
	if x.store.Load() == h.met && !h.last.IsZero() && time.Since(h.last) < rebuildEvery {
		return fmt.Errorf("made anew within %s, and again: %w", rebuildEvery, h.owed)
	}
	x.logger.Warn("search index is made anew", "err", h.owed)
	if err := x.restart(ctx, h.met); err != nil {
		return err
	}
	h.owed, h.last = nil, time.Now()
	return nil
}

// runOnce follows the log until something is wrong, ctx is done, or a search met damage.
func (x *Index) runOnce(parent context.Context) error {
	if x.Trouble() != nil {
		if err := x.written(parent); err != nil {
			return err
		}
	}
	if err := x.catchUp(parent); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(parent)
	purge := make(chan struct{}, 1)
	purge <- struct{}{} // what an earlier life left undone
	var watcher sync.WaitGroup
	defer watcher.Wait()
	defer stop(nil)
	watcher.Go(func() { x.watch(ctx, purge, stop) })
	err := engine.Follow(ctx, x.log, x.Position()+1, engine.Pace{Rest: batchPause, Hurry: x.progress.Hurry()}, func(slice []events.Record) error {
		return x.applySlice(ctx, slice, purge)
	})
	if err == nil || errors.Is(err, context.Canceled) { // of ctx, which says less than why it is done
		err = context.Cause(ctx)
	}
	return err
}

// writtenLimit is how long batches may take to get to disk where scorch does not say that it fails: then nobody writes them.
const writtenLimit = 10 * time.Second

// written returns when all batches are on disk, so that more may follow.
func (x *Index) written(ctx context.Context) error {
	if err := x.lock(ctx); err != nil {
		return err
	}
	defer x.unlock()
	s, err := x.current()
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, writtenLimit)
	defer cancel()
	if err = s.sync(limited); errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return fmt.Errorf("%w: what was added does not get to disk", errDamaged)
	}
	return err
}

// watchEvery is how often it is looked whether batches get to disk.
const watchEvery = time.Second

// watch looks after what searches and forgetting ask for, and stops what follows the log while nothing gets to disk.
func (x *Index) watch(ctx context.Context, purge <-chan struct{}, stop context.CancelCauseFunc) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var looked *store // and how often it had failed
	var failures uint64
	for {
		select {
		case <-ctx.Done():
			return
		case d := <-x.doubt:
			if d.met == x.store.Load() {
				stop(d.why)
				return
			}
		case <-purge:
			if err := x.purge(ctx); err != nil {
				stop(err)
			}
		case <-tick.C:
			s := x.store.Load()
			if s == nil {
				continue
			}
			now := s.failures()
			if s == looked && now > failures {
				stop(s.unwritten())
			}
			looked, failures = s, now
		}
	}
}

// applySlice applies records, and asks for a purge if something was forgotten.
func (x *Index) applySlice(ctx context.Context, slice []events.Record, purge chan<- struct{}) error {
	if err := x.lock(ctx); err != nil {
		return err
	}
	defer x.unlock()
	if _, err := x.current(); err != nil {
		return err
	}
	if err := x.builder.apply(ctx, slice); err != nil {
		return err
	}
	x.progress.Reach(x.builder.next.Position)
	if x.builder.store.point.Stale {
		select {
		case purge <- struct{}{}:
		default: // one is asked for already
		}
	}
	return nil
}

// suspect asks Run to make the index anew, because of damage that was met in a store, and returns once another one is in its
// place. Where that takes longer than patience the error is ErrRebuilding.
func (x *Index) suspect(ctx context.Context, met *store, why error) error {
	select {
	case x.doubt <- doubt{met, why}:
	default: // it is looked into already
	}
	limit := time.NewTimer(rebuildWait)
	defer limit.Stop()
	look := time.NewTicker(suspectEvery)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			if x.store.Load() != met {
				return nil
			}
		case <-limit.C:
			return fmt.Errorf("%w: %w", ErrRebuilding, why)
		case <-ctx.Done():
			return fmt.Errorf("index: %w", ctx.Err())
		}
	}
}

// suspectEvery is how often it is looked whether a damaged store was exchanged.
const suspectEvery = 10 * time.Millisecond

// restart exchanges the damaged store for an empty one, unless a rebuild has exchanged it meanwhile.
func (x *Index) restart(ctx context.Context, damaged *store) error {
	if err := x.lockRebuilds(ctx); err != nil {
		return err
	}
	defer x.unlockRebuilds()
	if err := x.lock(ctx); err != nil {
		return err
	}
	defer x.unlock()
	if x.store.Load() != damaged {
		return nil
	}
	if err := x.owe(ctx); err != nil {
		return err
	}
	s, err := x.fresh()
	if err != nil {
		return err
	}
	if err := x.exchange(s); err != nil {
		return errors.Join(err, s.discard())
	}
	return nil
}

// exchange puts s in the place of the store in use; on an error s is not in use. The caller holds the writing token.
func (x *Index) exchange(s *store) error {
	old, err := x.current()
	if err != nil {
		return err
	}
	if err := x.makeCurrent(s); err != nil {
		return err
	}
	x.use(s)
	if err := old.close(); err != nil {
		x.logger.Warn("old search index did not close", "err", err)
	}
	x.removeOthers(filepath.Base(s.dir))
	return nil
}

// Rebuild makes the index anew from the log while the old one answers, and exchanges them. Progress, if not nil, is
// called with how far it is and how far it has to go. One rebuild runs at a time; another waits. The error is ctx's, the log's,
// ErrClosed, or of writing; the old index stays then.
func (x *Index) Rebuild(ctx context.Context, progress func(done, total events.Position)) error {
	defer x.progress.Hasten()
	if err := x.lockRebuilds(ctx); err != nil {
		return err
	}
	defer x.unlockRebuilds()
	return x.rebuild(ctx, progress)
}

// rebuild is Rebuild. The caller holds the token of rebuilds.
func (x *Index) rebuild(parent context.Context, progress func(done, total events.Position)) error {
	if _, err := x.current(); err != nil {
		return err
	}
	ctx, stop := x.whileOpen(parent)
	defer stop()
	err := x.makeAnew(ctx, progress)
	if err != nil && errors.Is(context.Cause(ctx), ErrClosed) {
		return ErrClosed
	}
	return err
}

// whileOpen is parent until the index is closed; ErrClosed is the cause then. The caller calls stop.
func (x *Index) whileOpen(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	var watcher sync.WaitGroup
	watcher.Go(func() {
		select {
		case <-x.closing:
			cancel(ErrClosed)
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		cancel(nil)
		watcher.Wait()
	}
}

// makeAnew fills a store beside the one in use, and exchanges them.
func (x *Index) makeAnew(ctx context.Context, progress func(done, total events.Position)) error {
	total, err := x.log.Last(ctx)
	if err != nil {
		return fmt.Errorf("index: rebuild: %w", err)
	}
	s, err := x.fresh()
	if err != nil {
		return err
	}
	b := newBuilder(s, x.log, x.analyzer)
	err = b.catchUp(ctx, func(done events.Position) {
		if progress != nil {
			progress(min(done, total), total)
		}
	})
	if err == nil {
		err = s.sync(ctx)
	}
	if err == nil {
		err = x.finish(ctx, b)
	}
	if err != nil {
		return errors.Join(err, s.discard())
	}
	return nil
}

// finish brings the new store to where the old one is, and exchanges them.
func (x *Index) finish(ctx context.Context, b *builder) error {
	if err := x.lock(ctx); err != nil {
		return err
	}
	defer x.unlock()
	if err := b.catchUp(ctx, nil); err != nil {
		return err
	}
	return x.exchange(b.store)
}

// Purge returns when the words of what was forgotten are in no file of the index, as far as it knows of the forgetting:
// Wait for its position first. The error is ctx's, the log's, ErrClosed, or of writing; searches find nothing of it in any case.
func (x *Index) Purge(ctx context.Context) error {
	if _, err := x.current(); err != nil {
		return err
	}
	return x.purge(ctx)
}

// Forget takes out what records of other machines said, at these positions of the log: their payloads are erased from it, and
// nothing in it says so yet. It waits until the index has come that far, and for a rebuild under way. Purge takes the words out
// of the files. Errors: those of WaitUnlessStopped, ErrClosed, of writing.
func (x *Index) Forget(ctx context.Context, at ...events.Position) error {
	if len(at) == 0 {
		return nil
	}
	if err := x.WaitUnlessStopped(ctx, slices.Max(at)); err != nil {
		return err
	}
	if err := x.lockRebuilds(ctx); err != nil {
		return err
	}
	defer x.unlockRebuilds()
	if err := x.lock(ctx); err != nil {
		return err
	}
	defer x.unlock()
	if _, err := x.current(); err != nil {
		return err
	}
	if err := x.builder.forget(events.MemoryForgotten{Positions: at}); err != nil {
		return err
	}
	return x.builder.flush()
}

// purge makes the index anew if the words of forgotten documents are still in its files: scorch keeps the words of a
// removed document until it merges the segment, which may be never.
func (x *Index) purge(ctx context.Context) error {
	if err := x.lockRebuilds(ctx); err != nil {
		return err
	}
	defer x.unlockRebuilds()
	if err := x.lock(ctx); err != nil {
		return err
	}
	stale := x.builder.store.point.Stale
	x.unlock()
	if !stale {
		return nil
	}
	return x.rebuild(ctx, nil)
}
