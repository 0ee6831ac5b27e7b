package engine

import (
	"context"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/events"
)

// Forget takes out of the views what records of other machines said, at these positions: their payloads are erased from the log, and nothing in the
// log says so yet, as their own machine may record it weeks later. What is there then is what a view would hold that never saw them; nothing
// else is folded. It waits until the views have come that far, and for a Rebuild under way. Compact takes the traces out of the file. Errors: those
// of Wait, ErrDamaged, which Run mends, of writing.
func (v *Views) Forget(ctx context.Context, at ...events.Position) error {
	if len(at) == 0 {
		return nil
	}
	if err := v.Wait(ctx, slices.Max(at)); err != nil {
		return err
	}
	leave, err := v.withoutRebuild(ctx)
	if err != nil {
		return err
	}
	defer leave()
	v.applying.Lock()
	defer v.applying.Unlock()
	if err := v.write(func(btx *bolt.Tx) error { return v.forget(btx, at) }); err != nil {
		return fmt.Errorf("projections: forget: %w", err)
	}
	return nil
}

// forget has each view fold that the records at some positions are forgotten. The caller holds applying.
func (v *Views) forget(btx *bolt.Tx, at []events.Position) error {
	for _, i := range v.live {
		if !i.view.Reads().Others {
			continue
		}
		f, err := v.foldOn(btx, i, new(arena))
		if err != nil {
			return err
		}
		f.apply(v.origin.forgotten(at))
		if err := f.finish(i); err != nil {
			return err
		}
	}
	return nil
}

// forgotten is what a record says by which positions are forgotten, whichever streams they are of: their words are gone, and what became of an input is
// left to its own stream to say.
func (o Origin) forgotten(at []events.Position) *Record {
	r := o.NewRecord(events.Record{Header: events.Header{Stream: events.Daemon, Kind: events.KindMemoryForgotten}})
	r.event, r.decoded = events.MemoryForgotten{Positions: at}, true
	return &r
}
