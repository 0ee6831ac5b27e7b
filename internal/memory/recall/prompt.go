package recall

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
)

const (

	// maxBrief is how long what is injected at a prompt or a file is at most, in characters, and maxBriefRows how many rows.
	maxBrief     = 600
	maxBriefRows = 5

	// maxPromptWords is how many of a prompt's words are searched.
	maxPromptWords = 8

	// pairsOfWord is how many pairs of signs count for one of them: a sentence without blanks has as many as signs.
	pairsOfWord = 3

	// promptHits is how many hits of a search are weighed, and morePromptHits how many if these have much of the prompt
	// and may not be injected.
	promptHits     = 20
	morePromptHits = 100

	// mostPromptDocs is in how many documents the words are looked for, the rarest first: that bounds what a prompt costs,
	// and words that stand in more of them tell hardly anything.
	mostPromptDocs = 6000
)

// loadPrompt finds rows that have something of what the user said.
func (c *chooser) loadPrompt(ctx context.Context) error {
	words := tellingWords(c.ask.Prompt)
	if len(words) < 2 {
		return nil
	}
	q := Query{
		Text: searched(words), Limit: promptHits, most: mostPromptDocs, ungrouped: true,
		Project: cmp.Or(c.ask.ProjectRoot, c.ask.Project), Key: c.ask.ProjectKey,
		Kinds: []rows.Kind{rows.Observation, rows.Summary, rows.Memory},
	}
	c.score = map[events.ID]int{}
	for fit := 0; q.Offset < morePromptHits; q.Offset, q.Limit = q.Offset+q.Limit, morePromptHits-promptHits {
		found, err := c.recall.Search(ctx, q)
		if err != nil {
			return err
		}
		rows, err := c.rowsBehind(ctx, found.Results)
		if err != nil {
			return err
		}
		more := false // rows that would be injected, but for what they are
		for _, row := range rows {
			c.score[row.ID] = c.scoreOf(words, row)
			switch {
			case c.unfitReason(row) == "":
				fit++
			case c.hasEnough(row):
				more = true
			}
		}
		c.rows = appendEach(c.rows, rows)
		if !more || fit >= maxBriefRows || len(found.Results) < q.Limit {
			break
		}
	}
	return c.loadUndone(ctx)
}

// loadUndone reads what was undone in the sessions of those summaries that may be injected.
func (c *chooser) loadUndone(ctx context.Context) error {
	read := map[events.SessionID]bool{}
	for _, row := range c.rows {
		if row.Kind != rows.Summary || read[row.Session] || c.unfitReason(*row) != "" {
			continue
		}
		read[row.Session] = true
		observed, err := c.recall.cfg.Views.RowsOf(ctx, row.Session, rows.Observation)
		if err != nil {
			return err
		}
		c.undone = append(c.undone, slices.DeleteFunc(observed, func(o rows.Row) bool { return !o.IsUndone() })...)
	}
	return nil
}

// observedIn reports whether an observation of a session has enough of the prompt, and may be injected or was.
func (c *chooser) observedIn(s events.SessionID) bool {
	return slices.ContainsFunc(c.rows, func(row *rows.Row) bool {
		return row.Kind == rows.Observation && row.Session == s && c.hasEnough(*row) && (c.unfitReason(*row) == "" || c.given.IDs[row.ID])
	})
}

// rowsBehind reads the rows of hits; of one that is flagged also the rows that it hides because they say nearly the same.
func (c *chooser) rowsBehind(ctx context.Context, hits []Item) ([]rows.Row, error) {
	ids := make([]events.ID, len(hits))
	for i, hit := range hits {
		ids[i] = hit.ID
	}
	rows, err := c.recall.cfg.Views.Rows(ctx, ids...)
	if err != nil {
		return nil, err
	}
	var hidden []events.ID
	for i, row := range rows {
		if row.Flagged {
			hidden = append(hidden, hits[i].Similar...)
		}
	}
	behind, err := c.recall.cfg.Views.Rows(ctx, hidden[:min(len(hidden), morePromptHits)]...)
	return append(rows, behind...), err
}

// scoreOf is how much of a prompt's telling words a row has: enough, if it has every one of them.
func (c *chooser) scoreOf(words []string, row rows.Row) int {
	score, all := overlap(words, row)
	if all {
		score = max(score, c.ask.Score)
	}
	return score
}

// searched are the first of a prompt's telling words.
func searched(words []string) string {
	n := 0
	for room := maxPromptWords * pairsOfWord; n < len(words) && room > 0; n++ {
		room -= pairsOfWord
		if unspaced(words[n]) {
			room += pairsOfWord - 1
		}
	}
	return strings.Join(words[:n], " ")
}
