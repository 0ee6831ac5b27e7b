package recall

import (
	"context"
	"slices"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
)

// maxLater is how many later requests of a session are told of with a row.
const maxLater = 3

// Later returns, by the id of each observation of a list, what came next in its session: of each of the next requests that were worked on
// one row in short, without its text, at most maxLater. Of several rows of a request it is the first that tells of changed files, or else the
// first. What is flagged is left out. Errors are ctx's and those of the views.
func (r *Recall) Later(ctx context.Context, of ...rows.Row) (map[events.ID][]EntryPart, error) {
	found := map[events.ID][]EntryPart{}
	read := map[events.SessionID][]rows.Row{}
	for _, row := range of {
		if row.Kind != rows.Observation || row.Session.IsZero() || row.Prompt == 0 {
			continue
		}
		if _, known := read[row.Session]; !known {
			all, err := r.cfg.Views.RowsOf(ctx, row.Session, rows.Observation)
			if err != nil {
				return nil, err
			}
			read[row.Session] = leads(all)
		}
		for i := range read[row.Session] {
			if later := &read[row.Session][i]; later.Prompt > row.Prompt && len(found[row.ID]) < maxLater {
				found[row.ID] = append(found[row.ID], partOf(later))
			}
		}
	}
	return found, nil
}

// leads are the rows of a session that stand for its requests, one each, in the order of these.
func leads(all []rows.Row) (list []rows.Row) {
	for _, row := range all {
		if row.Flagged || row.Prompt == 0 {
			continue
		}
		at := slices.IndexFunc(list, func(other rows.Row) bool { return other.Prompt == row.Prompt })
		switch {
		case at < 0:
			list = append(list, row)
		case len(list[at].FilesModified) == 0 && len(row.FilesModified) > 0:
			list[at] = row
		}
	}
	slices.SortStableFunc(list, func(a, b rows.Row) int { return a.Prompt - b.Prompt })
	return list
}
