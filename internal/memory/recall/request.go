package recall

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/internal/sentence"
	"github.com/cmemd/cmemd/projections/rows"
)

// request is a prompt above what came of it.
type request struct {
	row  rows.Row
	text string // behind its handle and time
}

// requests are the prompts that stand above chosen pieces, one of several pieces more than once.
func (c *chooser) requests() (list []request) {
	for _, p := range c.pieces {
		if asked, ok := c.asked[p.row.Entry()]; ok && p.chosen && p.sec == secWork {
			list = append(list, asked)
		}
	}
	return list
}

// tellRequests notes what was asked above what came of it.
func (c *chooser) tellRequests(t *saidTexts) {
	for _, asked := range c.requests() {
		t.add(asked.text)
	}
}

// tells reports whether a request stands above what came of it.
func (c *chooser) tells(asked string) bool {
	return slices.ContainsFunc(c.requests(), func(r request) bool {
		return strings.TrimPrefix(r.text, c.label(r.row)+": ") == c.words(asked, maxAsked)
	})
}

// requestLine is what was asked, in whole sentences, up to what one of them announces: that was pasted, most often.
func (c *chooser) requestLine(row rows.Row) string {
	said := cmp.Or(row.Text, titleOf(row))
	var whole []string
	left := maxAsked
	for _, s := range sentencesOf(said) {
		if left -= size(s) + 2; left < 0 || len(whole) > 0 && strings.HasSuffix(s, ":") {
			break
		}
		whole = append(whole, s)
	}
	return c.label(row) + ": " + c.words(cmp.Or(joined(whole), said), maxAsked)
}

// loadAsked reads the prompts above what came of them: of entries of which several pieces are chosen, or one that speaks of what was
// asked; of all others, the newest first, while there is room.
func (c *chooser) loadAsked(ctx context.Context, left budget) error {
	shown := c.shown()
	var newest []rows.Row // one an entry
	needed := map[rows.Entry]bool{}
	for i, p := range shown {
		if p.sec == secWork && p.row.Kind == rows.Observation {
			goesOn := c.continues(shown, i)
			if !goesOn {
				newest = append(newest, p.row)
			}
			needed[p.row.Entry()] = needed[p.row.Entry()] || goesOn || answers(p.row)
		}
	}
	slices.SortStableFunc(newest, func(a, b rows.Row) int { return inTime(b, a) })
	entries, err := c.recall.entriesOf(ctx, newest, moment{})
	left = left.minus(left.of(c.body()))
	c.asked = map[rows.Entry]request{}
	for _, entry := range entries {
		if len(entry) == 0 || entry[0].Kind != rows.Prompt {
			continue
		}
		asked := request{entry[0], c.requestLine(entry[0])}
		rest := left.minus(left.of(asked.text)).minus(budget{chars: lineCost, tokens: lineTokens})
		if at := entry[0].Entry(); needed[at] || rest.left() && !c.brief() && standsAlone(entry[0].Text) {
			c.asked[at], left = asked, rest
		}
	}
	return err
}

// standsAlone is for a request that says something by itself: a command, or more than a word of consent.
func standsAlone(asked string) bool { return strings.HasPrefix(asked, "/") || sentence.Telling(asked) }
