package recall

import (
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
