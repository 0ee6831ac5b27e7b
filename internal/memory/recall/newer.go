package recall

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/order"
	"github.com/cmemd/cmemd/internal/sentence"
	"github.com/cmemd/cmemd/projections/rows"
)

// newerWork returns, by the id of an observation, the newest of those that came of a later request and go on with the same. Requests are in
// the order of the first that came of each; of what came of one, what changed files comes first: it says what is so now. What is flagged or
// not listed takes no other's place, and what was made from others' words only that of its like.
func newerWork(list []*rows.Row) map[events.ID]*rows.Row {
	list = slices.DeleteFunc(slices.Clone(list), func(row *rows.Row) bool { return row.Kind != rows.Observation })
	begun := map[rows.Entry]stamp{}
	for _, row := range list {
		if at, known := begun[row.Entry()]; !known || stampOf(row).compare(at) < 0 {
			begun[row.Entry()] = stampOf(row)
		}
	}
	slices.SortStableFunc(list, func(a, b *rows.Row) int {
		return cmp.Or(begun[b.Entry()].compare(begun[a.Entry()]), order.Bools(len(a.FilesModified) == 0, len(b.FilesModified) == 0))
	})
	subjects := make([]sentence.Subject, len(list))
	newer := map[events.ID]*rows.Row{}
	for i, row := range list {
		subjects[i] = sentence.SubjectOf(row.Words(), filesBelowRoot(row))
		for at, later := range list[:i] {
			if later.Entry() != row.Entry() && later.Listed() && !later.Flagged && (row.External() || !later.External()) && subjects[i].GoesOn(subjects[at]) {
				newer[row.ID] = later
				break
			}
		}
	}
	return newer
}

// Newer returns, by the id of each observation of a list whose project has newer work on the same, the newest such work in short, without
// its text, as a context names it: among the newestObservations rows of the project. Errors are ctx's and those of the views.
func (r *Recall) Newer(ctx context.Context, of ...rows.Row) (map[events.ID]EntryPart, error) {
	asked, found := map[string][]*rows.Row{}, map[events.ID]EntryPart{}
	for i, row := range of {
		if row.Kind == rows.Observation && row.ProjectRoot != "" {
			asked[row.ProjectRoot] = append(asked[row.ProjectRoot], &of[i])
		}
	}
	read := map[string][]rows.Row{}
	for root, list := range asked {
		recent, err := r.recentWork(ctx, root, read)
		if err != nil {
			return nil, err
		}
		recent = slices.DeleteFunc(recent, func(row *rows.Row) bool {
			return slices.ContainsFunc(list, func(other *rows.Row) bool { return other.ID == row.ID })
		})
		newer := newerWork(slices.Concat(list, recent))
		for _, row := range list {
			if newest := newer[row.ID]; newest != nil {
				found[row.ID] = partOf(newest)
			}
		}
	}
	return found, nil
}

// recentWork returns the newest observations of the project that a folder is of. Read keeps what was read, by folder.
func (r *Recall) recentWork(ctx context.Context, root string, read map[string][]rows.Row) (recent []*rows.Row, err error) {
	extent, err := r.cfg.Views.Extent(ctx, root, "")
	if err != nil {
		return nil, err
	}
	for _, root := range extent.Roots {
		if _, known := read[root]; !known {
			read[root], err = r.cfg.Views.Recent(ctx, rows.RecentFilter{
				ProjectRoot: root, Kinds: []rows.Kind{rows.Observation}, Limit: newestObservations,
			})
			if err != nil {
				return nil, err
			}
		}
		recent = appendEach(recent, read[root])
	}
	slices.SortStableFunc(recent, func(a, b *rows.Row) int { return stampOf(b).compare(stampOf(a)) })
	return recent[:min(len(recent), newestObservations)], nil
}

// filesBelowRoot are the files that a row's work read or changed, as they are named below its project's folder: working trees of a project
// meet there.
func filesBelowRoot(row *rows.Row) []string {
	files := slices.Concat(row.FilesRead, row.FilesModified)
	if row.ProjectRoot != "" {
		for i, file := range files {
			files[i] = strings.TrimPrefix(file, row.ProjectRoot+"/")
		}
	}
	return files
}
