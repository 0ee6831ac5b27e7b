package vectors

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/rows"
)

// errAnew is an endpoint whose vectors are of another size than those in the file.
var errAnew = errors.New("vectors: of another size than before")

// anewEvery is how often the size of the vectors may lead to a file that is begun anew: an endpoint that goes on changing
// it is broken.
const anewEvery = time.Hour

// Run follows the log, deletes what is forgotten, and fills what has no vector yet. It returns nil when ctx is done. An endpoint
// that fails is waited for; what cannot be read or written is tried again with growing pauses (see Trouble). Errors: that the file is
// kept as it is (see Open), ErrClosed, engine.ErrMoved, that the log was closed. It is called once at a time.
func (v *Vectors) Run(ctx context.Context) (err error) {
	defer func() { v.ended(err) }()
	if v.kept != nil {
		return v.kept
	}
	return v.progress.Retry(ctx, v.cfg.Logger, v.runAnew, ErrClosed, engine.ErrMoved)
}

// runAnew follows the log until something is wrong that is not mended by beginning anew.
func (v *Vectors) runAnew(ctx context.Context) error {
	for {
		err := v.runOnce(ctx)
		if ctx.Err() != nil {
			return nil
		}
		switch {
		case errors.Is(err, errDoubted):
			continue
		case !errors.Is(err, errAnew) && !errors.Is(err, errAsked) && !errors.Is(err, engine.ErrDamaged):
			return err
		}
		v.cfg.Logger.Warn("vectors are made anew", "err", err)
		if err := v.write(ctx, v.store.reset); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// ended tells those who wait how Run has ended.
func (v *Vectors) ended(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.failed, v.restart = err, nil
	v.signal()
}

func (v *Vectors) runOnce(parent context.Context) error {
	ctx, stop := context.WithCancelCause(parent)
	defer stop(nil)
	var from events.Position
	err := v.write(ctx, func() (err error) { from, err = v.begin(stop); return err })
	if err != nil {
		return err
	}
	var filler sync.WaitGroup
	defer filler.Wait()
	defer stop(nil)
	filler.Go(func() {
		if err := v.fill(ctx); err != nil {
			stop(err)
		}
	})
	err = engine.Follow(ctx, v.log, from, engine.Pace{}, func(slice []events.Record) error {
		return v.write(ctx, func() error { return v.apply(slice) })
	})
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// begin checks the file, forgets what is pending, and returns where the log is to be read from: behind the last row. restart ends what
// begins here.
func (v *Vectors) begin(restart context.CancelCauseFunc) (from events.Position, err error) {
	why, err := v.store.check()
	if why != "" {
		v.cfg.Logger.Warn("vectors are made anew in part", "err", why)
	}
	if err = errors.Join(err, v.compact()); err != nil {
		return 0, err
	}
	at := v.store.state.Position
	v.mu.Lock()
	defer v.mu.Unlock()
	v.progress.Well()
	v.begun, v.restart = v.begun+1, restart
	v.signal()
	v.pending, v.followed = nil, at
	return at + 1, nil
}

// compact takes what was forgotten out of unused pages. Where that cannot be done now, Purge and the next start do it.
func (v *Vectors) compact() error {
	err := v.store.compact()
	if err != nil && !errors.Is(err, engine.ErrDamaged) && !errors.Is(err, engine.ErrNotOpen) {
		v.cfg.Logger.Warn("vectors that were forgotten are in unused pages of their file still", "err", err)
		return nil
	}
	return err
}

// beginAgain ends what Run does, so that it begins anew. It reports false if Run is not running.
func (v *Vectors) beginAgain(why error) bool {
	v.mu.Lock()
	restart := v.restart
	v.mu.Unlock()
	if restart != nil {
		restart(why)
	}
	return restart != nil
}

// apply notes what a slice of the log gives to embed, and deletes what it forgets, all at once: each time costs the file's length.
func (v *Vectors) apply(slice []events.Record) error {
	var found []item
	var gone events.MemoryForgotten // by all events of the slice
	for _, r := range slice {
		if traits, _ := r.Kind.Traits(); !traits.Indexed {
			continue
		}
		e, err := r.Event()
		if errors.Is(err, events.ErrErased) || errors.Is(err, events.ErrUnknownKind) && !r.Place().Log.IsZero() { // or of a newer program of another machine
			continue
		}
		if err != nil {
			return fmt.Errorf("vectors: %w", err)
		}
		if m, ok := e.(events.MemoryForgotten); ok {
			markGone(found, m)
			gone.IDs, gone.Positions = append(gone.IDs, m.IDs...), append(gone.Positions, m.Positions...)
			continue
		}
		if p, ok := e.(events.PromptSubmitted); ok && p.Private {
			continue // it has no words
		}
		if id := rows.MadeOf(r, e); id != (events.ID{}) {
			found = append(found, item{rowRef: rowRef{id: id, position: r.Position, chain: v.chainOf(r)}})
		}
	}
	if err := v.forget(gone); err != nil {
		return err // nothing behind what is to be forgotten is noted, so that the next start reads it again
	}
	v.note(found)
	v.advance(slice[len(slice)-1].Position)
	select {
	case v.more <- struct{}{}:
	default: // it will see this, too
	}
	return nil
}

func (v *Vectors) note(found []item) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.pending = append(v.pending, found...)
}

// forget deletes the rows that e names, and sees to it that none of them is made any more.
func (v *Vectors) forget(e events.MemoryForgotten) error {
	if len(e.IDs)+len(e.Positions) == 0 {
		return nil
	}
	v.mu.Lock()
	markGone(v.pending, e)
	v.mu.Unlock()
	v.queries.clear()
	if err := v.store.forget(e.IDs, e.Positions); err != nil {
		return err
	}
	return v.compact()
}

// markGone marks those items that e names.
func markGone(items []item, e events.MemoryForgotten) {
	ids, positions := setOf(e.IDs), setOf(e.Positions)
	for i, it := range items {
		if ids[it.id] || positions[it.position] {
			items[i].gone = true
		}
	}
}
