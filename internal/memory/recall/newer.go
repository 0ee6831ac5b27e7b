package recall

import (
	"context"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/sentence"
	"github.com/cmemd/cmemd/projections/rows"
)

// newerWork returns, by the id of an observation, the newest of those that came of a later request and go on with the same. Requests are in
// the order of the first that came of each. What is flagged takes no other's place, and what was made from others' words only that of its
// like.
func newerWork(list []*rows.Row) map[events.ID]*rows.Row {
	list = slices.DeleteFunc(slices.Clone(list), func(row *rows.Row) bool { return row.Kind != rows.Observation })
	begun := map[rows.Entry]stamp{}
	for _, row := range list {
		if at, known := begun[row.Entry()]; !known || stampOf(row).compare(at) < 0 {
			begun[row.Entry()] = stampOf(row)
		}
	}
	slices.SortStableFunc(list, func(a, b *rows.Row) int { return begun[b.Entry()].compare(begun[a.Entry()]) })
	subjects := make([]sentence.Subject, len(list))
	newer := map[events.ID]*rows.Row{}
	for i, row := range list {
		subjects[i] = sentence.SubjectOf(row.Words(), filesBelowRoot(row))
		for at, later := range list[:i] {
			if later.Entry() != row.Entry() && !later.Flagged && (row.External() || !later.External()) && subjects[i].GoesOn(subjects[at]) {
				newer[row.ID] = later
				break
			}
		}
	}
	return newer
}

// Newer names, for each observation of a list whose project has newer work on the same, the newest such work, as a context does: among the
// newestObservations rows of each of its folders. Errors are ctx's and those of the views.
func (r *Recall) Newer(ctx context.Context, of ...rows.Row) (map[events.ID]rows.Handle, error) {
	named := map[events.ID]rows.Handle{}
	for _, row := range of {
		if row.Kind != rows.Observation || row.ProjectRoot == "" {
			continue
		}
		extent, err := r.cfg.Views.Extent(ctx, row.ProjectRoot, "")
		if err != nil {
			return nil, err
		}
		list := []*rows.Row{&row}
		for _, root := range extent.Roots {
			recent, err := r.cfg.Views.Recent(ctx, rows.RecentFilter{
				ProjectRoot: root, Kinds: []rows.Kind{rows.Observation}, Limit: newestObservations, Match: func(other rows.Row) bool { return other.ID != row.ID },
			})
			if err != nil {
				return nil, err
			}
			list = appendEach(list, recent)
		}
		if newest := newerWork(list)[row.ID]; newest != nil {
			named[row.ID] = newest.Handle()
		}
	}
	return named, nil
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
