package erasure

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/rows"
)

// keepSilent records that what says the same as a preference that goes, and stays itself, is taken back or corrected as that was. Without
// it the next one would stand: what was made of the one that goes, its standing too, is gone when the views are made anew.
func (e *Eraser) keepSilent(ctx context.Context, shares []Share) error {
	going := set{}
	for _, sh := range shares {
		going.add(sh.Positions...)
	}
	var drafts []events.Draft
	for _, p := range slices.Sorted(maps.Keys(going)) {
		r, err := e.cfg.Log.Get(ctx, p)
		if err != nil {
			return err
		}
		if r.Kind != events.KindPreferenceStated {
			continue
		}
		silenced, err := e.silenceDuplicates(ctx, r.ID, going)
		if err != nil {
			return err
		}
		for _, m := range silenced {
			drafts = append(drafts, events.Draft{ID: e.cfg.NewID(), OccurredAt: e.cfg.Now(), Event: m})
		}
	}
	if len(drafts) == 0 {
		return nil
	}
	if _, err := eventlog.AppendEnd(ctx, e.cfg.Log, events.Daemon, drafts...); err != nil {
		return fmt.Errorf("erasure: keep silent what is taken back: %w", err)
	}
	return nil
}

// silenceDuplicates says how those stand from now on that say the same as a preference, which leads them and does not stand.
func (e *Eraser) silenceDuplicates(ctx context.Context, id events.ID, going set) (silenced []events.MemorySuperseded, err error) {
	row, err := e.cfg.Views.Row(ctx, id)
	if errors.Is(err, engine.ErrNotFound) || err == nil && (!row.ByHand || row.FoldedInto != (events.ID{})) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	same, err := e.cfg.Views.Same(ctx, row)
	if err != nil {
		return nil, err
	}
	others, err := e.cfg.Views.Rows(ctx, same...)
	if err != nil {
		return nil, err
	}
	var stay []rows.Row
	for _, other := range others {
		if !other.Forgotten && other.Position != 0 && !going[other.Position] {
			stay = append(stay, other)
		}
	}
	if len(stay) == 0 {
		return nil, nil
	}
	by := row.SupersededBy
	if in, err := e.cfg.Views.Row(ctx, by); err != nil || in.Forgotten || going[in.Position] {
		by = stay[0].ID // as what is taken back alone
	}
	for n, other := range stay {
		if other.Superseded && other.SupersededBy != row.SupersededBy || n > 0 && !other.Superseded || by == other.SupersededBy {
			continue
		}
		silenced = append(silenced, events.MemorySuperseded{Memory: other.ID, By: by})
	}
	return silenced, nil
}
