package vectors

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// errAnew is an endpoint whose vectors are of another size than those in the file.
var errAnew = errors.New("vectors: of another size than before")

// anewEvery is how often the size of the vectors may lead to a file that is begun anew: an endpoint that goes on changing
// it is broken.
const anewEvery = time.Hour

// Run follows the log, zeroes what is forgotten, and fills what has no vector yet. It returns nil when ctx is done, and an
// error if the log cannot be read or the file not be written. An endpoint that fails is waited for. It is called once at a time.
func (v *Vectors) Run(ctx context.Context) (err error) {
	defer func() { v.ended(err) }()
	for {
		err := v.runOnce(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if !errors.Is(err, errAnew) && !errors.Is(err, errAsked) {
			return err
		}
		v.cfg.Logger.Warn("vectors are made anew", "err", err)
		if err := v.write(ctx, v.slab.reset); err != nil && ctx.Err() == nil {
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
	if err := v.write(ctx, func() error { from = v.begin(stop); return nil }); err != nil {
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
	err := engine.Follow(ctx, v.log, from, engine.Pace{}, func(slice []events.Record) error {
		return v.write(ctx, func() error { return v.apply(slice) })
	})
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// begin forgets what is pending, and returns where the log is to be read from: behind the last row. Restart ends what begins here.
func (v *Vectors) begin(restart context.CancelCauseFunc) events.Position {
	r, _ := v.slab.last()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.begun, v.restart = v.begun+1, restart
	v.signal()
	v.pending, v.followed = nil, r.position
	return r.position + 1
}

// apply notes what a slice of the log gives to embed, and zeroes what it forgets.
func (v *Vectors) apply(slice []events.Record) error {
	for _, r := range slice {
		switch r.Kind {
		case events.KindPromptSubmitted, events.KindObservationParsed, events.KindSummaryParsed, events.KindMemorySaved, events.KindMemoryForgotten:
		default:
			continue
		}
		e, err := r.Event()
		if errors.Is(err, events.ErrErased) {
			continue
		}
		if err != nil {
			return fmt.Errorf("vectors: %w", err)
		}
		if m, ok := e.(events.MemoryForgotten); ok {
			if err := v.forget(m); err != nil {
				return err
			}
			continue
		}
		v.note(r, idOf(r, e))
	}
	v.advance(slice[len(slice)-1].Position)
	select {
	case v.more <- struct{}{}:
	default: // it is told already
	}
	return nil
}

// idOf is the id under which the views have what e says; zero: it has no words to embed.
func idOf(r events.Record, e events.Event) events.ID {
	switch e := e.(type) {
	case events.PromptSubmitted:
		if !e.Private {
			return r.ID
		}
	case events.ObservationParsed:
		return e.Observation
	case events.SummaryParsed:
		return e.Summary
	case events.MemorySaved:
		return e.Memory
	}
	return events.ID{}
}

func (v *Vectors) note(r events.Record, id events.ID) {
	if id == (events.ID{}) {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.pending = append(v.pending, item{rowRef: rowRef{id: id, position: r.Position, chain: chainOf(r)}})
}

// forget zeroes the rows that e names, and sees to it that none of them is made any more.
func (v *Vectors) forget(e events.MemoryForgotten) error {
	v.mu.Lock()
	ids, positions := setOf(e.IDs), setOf(e.Positions)
	for i, it := range v.pending {
		if ids[it.id] || positions[it.position] {
			v.pending[i].gone = true
		}
	}
	v.mu.Unlock()
	v.queries.clear()
	return v.slab.forget(e.IDs, e.Positions)
}

func setOf[T comparable](list []T) map[T]bool {
	out := make(map[T]bool, len(list))
	for _, x := range list {
		out[x] = true
	}
	return out
}
