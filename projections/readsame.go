package projections

import (
	"context"

	"github.com/cmemd/cmemd/events"
)

// Same returns the ids of the rows that are one with a row because they say the same in its session, without its own.
func (v *Views) Same(ctx context.Context, row Row) ([]events.ID, error) {
	lead := row.FoldedInto
	if lead == (events.ID{}) {
		lead = row.ID
	}
	if row.Kind != Observation || lead == row.ID && row.Count < 2 {
		return nil, nil
	}
	rows, err := v.sessionRows(ctx, row.Session, Observation)
	var same []events.ID
	for _, other := range rows {
		if other.ID != row.ID && (other.ID == lead || other.FoldedInto == lead) {
			same = append(same, other.ID)
		}
	}
	return same, err
}
