package recall

import (
	"cmp"
	"context"
	"slices"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/order"
	"github.com/cmemd/cmemd/projections/rows"
)

// maxLater is how many later requests of a session are named with a row.
const maxLater = 3

// Later returns, by the id of each observation of a list, what came next in its session and project: of each of the next requests that
// were worked on one row in short, without its text, at most maxLater. Of several rows of a request it is the first that names changed
// files, or else the first. What is flagged is left out. So is what was made from others' words, except beside its like: a row in short
// does not say so. Errors are ctx's and those of the views.
func (r *Recall) Later(ctx context.Context, of ...rows.Row) (map[events.ID][]EntryPart, error) {
	found, read := map[events.ID][]EntryPart{}, map[course][]rows.Row{}
	for _, row := range of {
		if row.Kind != rows.Observation || row.Session.IsZero() || row.Prompt == 0 {
			continue
		}
		c := course{row.Session, projectOf(row), row.External()}
		if _, known := read[c]; !known {
			all, err := r.cfg.Views.RowsOf(ctx, row.Session, rows.Observation)
			if err != nil {
				return nil, err
			}
			read[c] = c.leads(all)
		}
		for i := range read[c] {
			if later := &read[c][i]; later.Prompt > row.Prompt && len(found[row.ID]) < maxLater {
				found[row.ID] = append(found[row.ID], partOf(later))
			}
		}
	}
	return found, nil
}

// course is the work of a session that is named with a row.
type course struct {
	session  events.SessionID
	project  string // its rows, and those of none
	external bool   // what was made from others' words too
}

// leads are the rows of a session that stand for its requests, one each, in the order of these.
func (c course) leads(all []rows.Row) []rows.Row {
	all = slices.DeleteFunc(all, func(row rows.Row) bool {
		p := projectOf(row)
		return row.Flagged || row.Prompt == 0 || p != "" && p != c.project || row.External() && !c.external
	})
	order.By(all, func(a, b rows.Row) int {
		return cmp.Or(a.Prompt-b.Prompt, order.Bools(len(a.FilesModified) == 0, len(b.FilesModified) == 0))
	})
	return slices.CompactFunc(all, func(a, b rows.Row) bool { return a.Prompt == b.Prompt })
}
