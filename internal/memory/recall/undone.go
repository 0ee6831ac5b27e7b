package recall

import (
	"slices"
	"strings"

	"github.com/cmemd/cmemd/projections/rows"
)

// undoneSince reports whether a row is of work that a summary's session undid after the summary was written.
func undoneSince(row, summary rows.Row) bool {
	return row.IsUndone() && row.Session == summary.Session && row.Position < summary.Position && summary.Position < row.Undone.Position
}

// wentOnAfter reports whether a summary's session did something that may be injected after it, or undid what was done before.
func (c *chooser) wentOnAfter(summary rows.Row) bool {
	return slices.ContainsFunc(c.rows, func(row *rows.Row) bool { return c.follows(row, summary) }) ||
		slices.ContainsFunc(c.undone, func(row rows.Row) bool { return undoneSince(row, summary) })
}

// withoutUndone is a summary without the sentences that a row whose work was undone since is called by. A title of a few words stands in
// too many sentences.
func (c *chooser) withoutUndone(row rows.Row) rows.Row {
	if row.Kind != rows.Summary {
		return row
	}
	for _, u := range c.undone {
		text, cut := strings.CutSuffix(titleOf(u), ellipsis)
		title := plainWords(text)
		if !undoneSince(u, row) || title.count < minSaidWords {
			continue
		}
		if cut { // in a word, perhaps
			title.words = strings.TrimSuffix(title.words, " ")
		}
		for _, text := range []*string{&row.Learned, &row.Completed, &row.NextSteps} {
			*text = withoutSentences(*text, func(s string) bool { return strings.Contains(plainWords(s).words, title.words) })
		}
	}
	return row
}
