package recall

import (
	"slices"
	"strings"

	"github.com/cmemd/cmemd/projections/rows"
)

// undoneSince reports whether a row tells of work that a summary's session undid after the summary was written.
func undoneSince(row, summary rows.Row) bool {
	return row.IsUndone() && row.Session == summary.Session && row.Position < summary.Position && summary.Position < row.Undone.Position
}

// wentOnAfter reports whether a summary's session did something that may be injected after it, or undid what was done before.
func (c *chooser) wentOnAfter(summary rows.Row) bool {
	return slices.ContainsFunc(c.rows, func(row *rows.Row) bool { return c.follows(row, summary) }) ||
		slices.ContainsFunc(c.undone, func(row rows.Row) bool { return undoneSince(row, summary) })
}

// withoutUndone is a summary without what it says, line by line, in the words of a row whose work was undone since.
func (c *chooser) withoutUndone(row rows.Row) rows.Row {
	if row.Kind != rows.Summary {
		return row
	}
	for _, u := range c.undone {
		if !undoneSince(u, row) {
			continue
		}
		said := sayings(titleOf(u))
		for _, text := range []*string{&row.Learned, &row.Completed, &row.NextSteps} {
			*text = strings.Join(slices.DeleteFunc(strings.Split(*text, "\n"), func(line string) bool { return beginAs(said, plainWords(line)) }), "\n")
		}
	}
	return row
}
