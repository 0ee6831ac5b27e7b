package rows_test

import (
	"cmp"
	"testing"

	"github.com/cmemd/cmemd/projections/rows"
)

// TestTitles: whoever lists a row shows the same text in the place of a title that it has not.
func TestTitles(t *testing.T) {
	t.Parallel()
	for want, row := range map[string]rows.Row{
		"the title":   {Title: "the title", Text: "the text"},
		"the request": {Request: "the request", Completed: "what was done"},
		"the text":    {Kind: rows.Prompt, Text: "the text"},
		"what was done": {
			Kind: rows.Summary, Completed: "what was done", Learned: "what was learned", Investigated: "what was looked at",
		},
		"a fact":    {Facts: []string{"a fact", "another"}, Concepts: []string{"gotcha"}},
		"gotcha":    {Concepts: []string{"gotcha"}},
		"":          {},
		"narrative": {Narrative: "narrative", Facts: []string{"a fact"}},
	} {
		if got := cmp.Or(row.Titles()...); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
