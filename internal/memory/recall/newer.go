package recall

import (
	"slices"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/sentence"
	"github.com/cmemd/cmemd/projections/rows"
)

// newerWork returns, by the id of an observation, the newest of those that a later request led to and that go on with the same. What is
// flagged, or was undone, takes no other's place.
func newerWork(list []*rows.Row) map[events.ID]*rows.Row {
	list = slices.DeleteFunc(slices.Clone(list), func(row *rows.Row) bool { return row.Kind != rows.Observation })
	slices.SortStableFunc(list, func(a, b *rows.Row) int { return stampOf(b).compare(stampOf(a)) })
	subjects := make([]sentence.Subject, len(list))
	newer := map[events.ID]*rows.Row{}
	for i, row := range list {
		subjects[i] = sentence.SubjectOf(row.Words(), row.FilesRead, row.FilesModified)
		for at, later := range list[:i] {
			if later.Entry() != row.Entry() && !later.Flagged && !later.IsUndone() && subjects[i].GoesOn(subjects[at]) {
				newer[row.ID] = later
				break
			}
		}
	}
	return newer
}
