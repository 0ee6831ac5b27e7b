package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

const (
	// maxRepairs is how often Run makes a damaged file anew within repairWindow: a disk that damages it again and again
	// is beyond us.
	maxRepairs   = 3
	repairWindow = time.Hour

	// maxBatchWait is how long records that nobody waits for may wait for others: a slice costs a commit, a checkpoint of each view and one
	// writing of each row that it changes, however many records it has. A person does not notice a tenth of a second.
	maxBatchWait = 100 * time.Millisecond
)

// Run applies the log's records to the views, first those that they lack and then those that are appended. It returns
// nil when ctx is done. What cannot be read or written is tried again with growing pauses (see Trouble). Errors: ErrNewerKind,
// ErrMoved, ErrClosed, that the log was closed. One Run at a time.
func (v *Views) Run(ctx context.Context) error {
	v.progress.Stop(nil)
	var r repairs
	once := func(ctx context.Context) error { return v.runRepairing(ctx, &r) }
	err := v.progress.Retry(ctx, v.logger, once, ErrNewerKind, ErrClosed, ErrMoved)
	if err == nil || ctx.Err() != nil {
		return nil
	}
	err = fmt.Errorf("projections: run: %w", err)
	v.progress.Stop(err)
	return err
}

// repairs are those of one Run.
type repairs struct {
	done   []time.Time // of late
	damage error       // damage that was met; nil: none
	epoch  uint64      // of the file in which it was
}

// runRepairing follows the log until ctx is done or something is wrong that no repair helps.
func (v *Views) runRepairing(ctx context.Context, r *repairs) error {
	for {
		if r.damage != nil {
			if err := v.mend(r); err != nil {
				return err
			}
		}
		r.epoch, _ = v.head()
		if r.damage = v.runOnce(ctx); !errors.Is(r.damage, ErrDamaged) {
			err := r.damage
			r.damage = nil
			return err
		}
	}
}

// mend repairs what is owed, unless that was done too often of late, which is the error then.
func (v *Views) mend(r *repairs) error {
	if epoch, _ := v.head(); epoch != r.epoch {
		r.damage = nil
		return nil
	}
	r.done = slices.DeleteFunc(r.done, func(at time.Time) bool { return time.Since(at) >= repairWindow })
	if len(r.done) == maxRepairs {
		return fmt.Errorf("made anew %d times within an hour, and again: %w", maxRepairs, r.damage)
	}
	if err := v.repair(r.epoch, r.damage); err != nil {
		return err
	}
	r.damage, r.done = nil, append(r.done, time.Now())
	return nil
}

// repair closes the file, deletes it, and begins anew, because of what was found in the file of an epoch. If that file
// has been made anew already it does nothing.
func (v *Views) repair(epoch uint64, why error) error {
	v.applying.Lock()
	defer v.applying.Unlock()
	if v.epoch != epoch {
		return nil
	}
	if errors.Is(why, errJoined) {
		v.logger.Info("views are made anew: records of other machines have come")
	} else {
		v.logger.Warn("views are damaged", "err", why)
	}
	if err := v.discardStore(); err != nil {
		return err
	}
	v.epoch++
	return v.openStore()
}

// discardStore closes the file and deletes it. The caller holds applying.
func (v *Views) discardStore() error {
	v.storing.Lock()
	defer v.storing.Unlock()
	if v.store == nil {
		return ErrClosed
	}
	if err := v.store.mark.checkNotMoved(); err != nil {
		return err
	}
	v.store.abandon()
	return v.store.Discard()
}

// runOnce follows the log with the views that are furthest, while the others catch up beside them.
func (v *Views) runOnce(ctx context.Context) error {
	if err := v.read(ctx, func(*bolt.Tx) error { return nil }); err != nil { // a file that could not be opened again
		return err
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var beside sync.WaitGroup
	beside.Go(func() {
		if err := v.advanceBehind(inner); err != nil {
			cancel(err)
		}
	})
	beside.Go(func() {
		select {
		case err := <-v.broken:
			cancel(err)
		case <-inner.Done():
		}
	})
	epoch, front := v.head()
	if last, err := v.log.Last(inner); err == nil && front >= last {
		v.progress.Well() // there is nothing to be written
	}
	pace := v.cfg.Pace
	pace.Hurry, pace.Rest = v.progress.Hurry(), cmp.Or(pace.Rest, maxBatchWait)
	err := Follow(inner, v.log, front+1, pace, v.frontApplier(epoch))
	cancel(err)
	beside.Wait()
	if ctx.Err() != nil {
		return nil
	}
	if cause := context.Cause(inner); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// CatchUp applies what the log holds when it is called, and returns. It may be called while Run is running, or
// without it. Errors: those of Run, ctx.Err().
func (v *Views) CatchUp(ctx context.Context) error {
	epoch, _ := v.head()
	err := v.catchUp(ctx)
	if errors.Is(err, ErrDamaged) {
		if err = v.repair(epoch, err); err == nil {
			err = v.catchUp(ctx)
		}
	}
	if err != nil {
		return fmt.Errorf("projections: catch up: %w", err)
	}
	return nil
}

func (v *Views) catchUp(ctx context.Context) error {
	last, err := v.log.Last(ctx)
	if err != nil {
		return err
	}
	if err := v.advanceBehind(ctx); err != nil {
		return err
	}
	epoch, front := v.head()
	return v.slices(ctx, front+1, last, v.frontApplier(epoch))
}

// slices hands the records from position from to position to in slices to f.
func (v *Views) slices(ctx context.Context, from, to events.Position, f func([]events.Record) error) error {
	if from > to {
		return nil
	}
	pace := v.cfg.Pace.withDefaults()
	records, bytes := make([]events.Record, 0, pace.Records), 0
	for r, err := range v.log.All(ctx, from) {
		if err != nil {
			return err
		}
		if r.Position > to {
			break
		}
		records, bytes = append(records, r), bytes+int(r.Size)
		if len(records) < pace.Records && bytes < pace.Bytes {
			continue
		}
		if err := f(records); err != nil {
			return err
		}
		clear(records)
		records, bytes = records[:0], 0
	}
	if err := ctx.Err(); err != nil || len(records) == 0 {
		return err
	}
	return f(records)
}

// head is which file the views are in, and the position of those that are furthest.
func (v *Views) head() (epoch uint64, front events.Position) {
	v.applying.Lock()
	defer v.applying.Unlock()
	return v.epoch, v.frontLocked()
}

// current returns ErrDamaged if what was begun in the file of an epoch cannot be gone on with, since there is another
// file now. The caller holds applying.
func (v *Views) current(epoch uint64) error {
	if v.epoch != epoch {
		return Damaged("they were made anew meanwhile")
	}
	return nil
}

func (v *Views) frontLocked() events.Position {
	var at events.Position
	for _, i := range v.live {
		at = max(at, i.at)
	}
	return at
}

// frontApplier applies records to the views that are furthest, as long as they are in the file of an epoch: those of
// another file lack what came before these records.
func (v *Views) frontApplier(epoch uint64) func([]events.Record) error {
	return func(records []events.Record) error {
		v.applying.Lock()
		defer v.applying.Unlock()
		if err := v.current(epoch); err != nil {
			return err
		}
		return v.applyFront(records)
	}
}

// applyFront applies records to the views that are furthest. The caller holds applying.
func (v *Views) applyFront(records []events.Record) error {
	front := v.frontLocked()
	var who []*instance
	for _, i := range v.live {
		if i.at == front {
			who = append(who, i)
		}
	}
	if err := v.apply(records, who); err != nil {
		return err
	}
	v.publish()
	return nil
}

// advanceBehind brings the views that are behind to where the others are, the one that lacks most first.
func (v *Views) advanceBehind(ctx context.Context) error {
	for {
		last := v.behind()
		if last == nil {
			return nil
		}
		if err := v.advance(ctx, last, func(events.Position) {}, v.publishAll); err != nil {
			return err
		}
	}
}

// behind is the view that lacks most of what the others have, or nil.
func (v *Views) behind() *instance {
	v.applying.Lock()
	defer v.applying.Unlock()
	front := v.frontLocked()
	var last *instance
	for _, i := range v.live {
		if i.at < front && (last == nil || i.at < last.at) {
			last = i
		}
	}
	return last
}

// advance brings i to the front, slice by slice between those of Run, and calls arrived at the moment when it is
// there, with no slice in between.
func (v *Views) advance(ctx context.Context, i *instance, applied func(events.Position), arrived func() error) error {
	one := []*instance{i}
	for {
		done, err := v.arrive(ctx, i, arrived)
		if done || err != nil {
			return err
		}
		from, to := v.span(i)
		err = v.slices(ctx, from, to, func(records []events.Record) error {
			v.applying.Lock()
			defer v.applying.Unlock()
			if err := v.current(i.epoch); err != nil {
				return err
			}
			if err := v.apply(records, one); err != nil {
				return err
			}
			applied(i.at)
			return nil
		})
		if err != nil {
			return err
		}
	}
}

// span is what i lacks.
func (v *Views) span(i *instance) (from, to events.Position) {
	v.applying.Lock()
	defer v.applying.Unlock()
	return i.at + 1, v.frontLocked()
}

// arrive brings i to the front while nothing else moves, if that is one slice at most.
func (v *Views) arrive(ctx context.Context, i *instance, arrived func() error) (done bool, err error) {
	v.applying.Lock()
	defer v.applying.Unlock()
	if err := v.current(i.epoch); err != nil {
		return false, err
	}
	front := v.frontLocked()
	if front > i.at && front-i.at > events.Position(v.cfg.Pace.withDefaults().Records) {
		return false, nil
	}
	one := []*instance{i}
	err = v.slices(ctx, i.at+1, front, func(records []events.Record) error { return v.apply(records, one) })
	if err != nil {
		return false, err
	}
	return true, arrived()
}

// apply applies records to instances in one transaction, passing over what they have. The caller holds applying. In
// memory nothing changes unless the transaction is committed.
func (v *Views) apply(records []events.Record, who []*instance) error {
	moved := make([]instance, len(who))
	err := v.write(func(btx *bolt.Tx) error {
		for n, i := range who {
			moved[n] = *i
		}
		return v.applyAll(btx, records, moved)
	})
	if err != nil {
		return err
	}
	for n, i := range who {
		*i = moved[n]
	}
	return nil
}

func (v *Views) write(f func(*bolt.Tx) error) error {
	v.storing.RLock()
	defer v.storing.RUnlock()
	if v.store == nil {
		return ErrClosed
	}
	return v.store.Update(f)
}

func (v *Views) applyAll(btx *bolt.Tx, records []events.Record, who []instance) error {
	folds, values := make([]boundFold, len(who)), new(arena)
	for n := range who {
		var err error
		if folds[n], err = v.foldOn(btx, &who[n], values); err != nil {
			return err
		}
	}
	var r Record // one for all: it is allocated
	for i := range records {
		r = v.origin.NewRecord(records[i])
		if err := v.applyRecord(&r, who, folds); err != nil {
			return err
		}
	}
	for n := range who {
		if err := folds[n].finish(&who[n]); err != nil {
			return err
		}
		if v.liveOf(who[n].view).bucket != who[n].bucket {
			continue // a copy that is not live yet has no checkpoint: it is begun again rather than gone on with
		}
		if err := v.writePoint(btx, &who[n], values); err != nil {
			return err
		}
	}
	return nil
}

func (v *Views) applyRecord(r *Record, instances []instance, folds []boundFold) error {
	known, foreign := KnownKind(r.Kind), v.origin.Foreign(r.Home.Log)
	if r.IsMoved() && !v.origin.Joined {
		return errJoined
	}
	for n := range instances {
		i := &instances[n]
		if i.at >= r.Position {
			continue
		}
		i.at, i.chain = r.Position, r.Chain
		if foreign && (!i.view.Reads().Others || !known) { // what a newer program of another machine says stops nobody here
			continue
		}
		if !known {
			if !i.view.Reads().SkipsUnknown {
				return fmt.Errorf("%w: view %s, record %d of kind %q", ErrNewerKind, i.view.Name(), r.Position, r.Kind)
			}
			continue
		}
		folds[n].apply(r)
		if err := r.Err(); err != nil && !foreign {
			return fmt.Errorf("%w: view %s: %w", ErrNewerKind, i.view.Name(), err)
		}
		if err := folds[n].x.Err(); err != nil {
			return fmt.Errorf("view %s, record %d (%s): %w", i.view.Name(), r.Position, r.Kind, err)
		}
	}
	if errors.Is(r.err, events.ErrCorrupt) {
		v.logger.Warn("payload cannot be read", "position", r.Position, "err", r.err)
		if noted, ok := v.log.(interface{ NoteDamage(*eventlog.CorruptError) }); ok {
			noted.NoteDamage(&eventlog.CorruptError{Position: r.Position, Stream: r.Stream, Reason: r.err.Error()})
		}
	}
	return nil
}

// errJoined says that the first record of another machine has come. What is stored of one log alone does not say enough for
// several: it is made anew, as damage is.
var errJoined = Damaged("they know one machine alone, and records of others have come")

// headerAt looks up a header in the log.
func (v *Views) headerAt(at events.Position) (events.Header, bool, error) {
	r, err := v.log.Get(context.Background(), at)
	if errors.Is(err, eventlog.ErrNotFound) {
		return events.Header{}, false, nil
	}
	return r.Header, err == nil, err
}
