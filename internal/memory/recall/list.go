package recall

import (
	"context"
	"fmt"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
)

// Listed is a row of a list in short, with what a person may want to look at it for.
type Listed struct {
	Item
	States []rows.State `json:"states,omitempty"`
	// What took its place, where something did.
	SupersededBy events.ID `json:"superseded_by,omitzero"`
}

// List returns rows in the order of time, and where to go on, as rows.Reader.ListRows does.
func (r *Recall) List(ctx context.Context, f rows.ListFilter) (found []Listed, next rows.Place, err error) {
	all, next, err := r.cfg.Views.ListRows(ctx, f)
	if err != nil {
		return nil, next, fmt.Errorf("recall: %w", err)
	}
	for _, row := range all {
		found = append(found, Listed{itemOf(row), row.States(), row.SupersededBy})
	}
	return found, next, nil
}
