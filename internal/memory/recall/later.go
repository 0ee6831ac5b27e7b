package recall

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer/evidence"
	"github.com/cmemd/cmemd/internal/sentence"
	"github.com/cmemd/cmemd/projections/rows"
)

// namedAgain are the observations that say how something was, and of which a later prompt's observations of the same session name again
// all that their titles name: what the session came to know, or made of it, stands there. What says why, of what to beware or what was
// chosen is none of them, and neither is what was done.
func (c *chooser) namedAgain() map[events.ID]bool {
	var found []*rows.Row
	for _, row := range c.rows {
		if row.Kind == rows.Observation && row.Prompt > 0 && c.unfit(*row) == "" {
			found = append(found, row)
		}
	}
	slices.SortStableFunc(found, func(a, b *rows.Row) int {
		return cmp.Or(bytes.Compare(a.Session[:], b.Session[:]), cmp.Compare(b.Prompt, a.Prompt))
	})
	again := map[events.ID]bool{}
	var later map[string]bool // what the observations of later prompts name
	var named []string        // what those of the prompt at hand name
	for i, row := range found {
		switch {
		case i == 0 || row.Session != found[i-1].Session:
			later, named = map[string]bool{}, nil
		case row.Prompt != found[i-1].Prompt:
			for _, name := range named {
				later[name] = true
			}
			named = nil
		}
		about := evidence.Marks(row.Title)
		anew := slices.ContainsFunc(about, func(name string) bool { return !later[name] })
		if len(about) > 0 && !anew && row.Type == typeDiscovery {
			again[row.ID] = readingOf(row).tellsState()
		}
		named = append(named, evidence.Marks(row.Title+"\n"+row.Narrative)...)
	}
	return again
}

// tellsState reports whether the sentence that a row's title is made of only says how something is.
func (r *reading) tellsState() bool {
	said := r.row.Title
	if i := slices.IndexFunc(r.order, func(c candidate) bool { return c.weight == math.MaxInt }); i >= 0 {
		said = r.all[r.order[i].at].text
	}
	return sentence.PurposeOf(said) == sentence.Plainly
}
