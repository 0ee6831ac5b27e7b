package recall

import (
	"cmp"
	"context"

	"github.com/cmemd/cmemd/projections/rows"
)

// request is a prompt above what came of it.
type request struct {
	row  rows.Row
	text string // behind its handle and time
}

// tellRequests notes what was asked above what came of it.
func (c *chooser) tellRequests(t *saidTexts) {
	for _, asked := range c.asked {
		t.add(asked.text)
	}
}

// requestLine is what was asked, in whole sentences.
func (c *chooser) requestLine(row rows.Row) string {
	said := cmp.Or(row.Text, titleOf(row))
	var whole []string
	left := maxAsked
	for _, s := range sentencesOf(said) {
		if left -= size(s) + 2; left < 0 {
			break
		}
		whole = append(whole, s)
	}
	return c.label(row) + ": " + c.words(cmp.Or(joined(whole), said), maxAsked)
}

// loadAsked reads the prompts of entries of which several pieces are chosen, or one that speaks of what was asked.
func (c *chooser) loadAsked(ctx context.Context) error {
	shown := c.shown()
	var several []rows.Row
	for i, p := range shown {
		if c.continues(shown, i) && !c.continues(shown, i-1) || p.sec == secWork && p.row.Kind == rows.Observation && answers(p.row) {
			several = append(several, p.row)
		}
	}
	entries, err := c.recall.entriesOf(ctx, several, moment{})
	c.asked = map[rows.Entry]request{}
	for _, entry := range entries {
		if len(entry) > 0 && entry[0].Kind == rows.Prompt {
			c.asked[entry[0].Entry()] = request{entry[0], c.requestLine(entry[0])}
		}
	}
	return err
}
