package curation

import (
	"context"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/projections/rows"
)

// Confirm records that a person vouches for a row, or does not any more.
func (c *Curator) Confirm(ctx context.Context, q api.ConfirmRequest) (api.Confirmed, error) {
	release, err := c.begin(ctx)
	if err != nil {
		return api.Confirmed{}, err
	}
	defer release()
	id, err := c.cfg.Resolve(ctx, q.ID)
	if err != nil {
		return api.Confirmed{}, err
	}
	row, err := c.cfg.Views.Row(ctx, id)
	switch {
	case err != nil:
		return api.Confirmed{}, err
	case row.Forgotten:
		return api.Confirmed{}, conflict("It was forgotten", "forgetting is final: the words are gone")
	case row.Kind != rows.Observation && row.Kind != rows.Summary:
		return api.Confirmed{}, conflict("There is nothing to confirm", "observations and summaries are confirmed: the rest is what somebody said")
	case q.Withdraw && row.Confirmed == 0:
		return api.Confirmed{}, conflict("It is not confirmed", "there is nothing to withdraw")
	case !q.Withdraw && row.Confirmed > 0:
		return api.Confirmed{}, conflict("It is confirmed already", "it is told whole already; `cmemd confirm --withdraw` takes that back")
	}
	_, at, err := c.append(ctx, c.cfg.Now(), events.MemoryConfirmed{Memory: row.ID, Withdrawn: q.Withdraw})
	return api.Confirmed{ID: row.ID, Handle: row.Handle(), Position: at, Withdrawn: q.Withdraw}, err
}
