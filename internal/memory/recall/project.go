package recall

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/index"
	"github.com/cmemd/cmemd/projections/rows"
)

// isRoot reports whether a project is named by its root rather than by its shown name. To a project that is named so belong the rows
// of its roots, and the rows without a root whose name a person gave to it: see projects.Extent. Search, Timeline, Context and forgetting
// all go by this.
func isRoot(project string) bool { return filepath.IsAbs(project) }

// listed reads the first n rows that q finds and that answers show, those alone that keep wants. With done it
// stops where that is true: it is asked when the hits of a search were looked at.
func (r *Recall) listed(ctx context.Context, q index.Query, n int, keep func(rows.Row) bool, done func() bool) ([]rows.Row, error) {
	var rows []rows.Row
	read, seen := 0, map[events.ID]bool{}
	for q.Limit = n + spare; ; q.Limit *= 4 {
		found, err := r.cfg.Index.Search(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("recall: %w", err)
		}
		more, err := r.rowsOf(ctx, found.Hits[min(read, len(found.Hits)):], moment{})
		if err != nil {
			return nil, err
		}
		read = len(found.Hits)
		for _, row := range more {
			if row.Listed() && !seen[row.ID] && keep(row) {
				seen[row.ID] = true
				rows = append(rows, row)
			}
		}
		if len(rows) >= n || len(found.Hits) < q.Limit || done != nil && done() {
			return rows[:min(len(rows), n)], nil
		}
	}
}

// rowsOf reads the rows of hits as they stood at a moment.
func (r *Recall) rowsOf(ctx context.Context, found []index.Hit, then moment) ([]rows.Row, error) {
	var list []rows.Row
	var err error
	if then.position == 0 {
		list, err = r.cfg.Views.RowsNamed(ctx, namesOf(found)...)
	} else {
		ids := make([]events.ID, len(found))
		for i, h := range found {
			ids[i] = h.ID
		}
		list, err = r.rowsAsOf(ctx, then, ids...)
	}
	if err != nil {
		return nil, fmt.Errorf("recall: %w", err)
	}
	return list, nil
}

func namesOf(found []index.Hit) []rows.Name {
	names := make([]rows.Name, len(found))
	for i, h := range found {
		names[i] = rows.Name{ID: h.ID, Kind: rows.Kind(h.Kind.String())}
	}
	return names
}

// spare is how many hits more than asked for are looked for, for those that turn out to be superseded or folded.
const spare = 40
