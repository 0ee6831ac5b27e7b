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
	row  *rows.Row
	text string // behind its handle and time
}

// requests are the prompts that stand above chosen pieces, one of several pieces more than once.
func (c *chooser) requests() (list []request) {
	for _, p := range c.pieces {
		if asked, ok := c.asked[p.row.Entry()]; ok && p.chosen && p.sec.byEntry() {
			list = append(list, asked)
		}
	}
	return list
}

// noteRequests notes what was asked above what came of it.
func (c *chooser) noteRequests(t *saidTexts) {
	for _, asked := range c.requests() {
		t.add(asked.text)
	}
}

// stands reports whether a request stands above what came of it.
func (c *chooser) stands(asked string) bool {
	return slices.ContainsFunc(c.requests(), func(r request) bool {
		return strings.TrimPrefix(r.text, c.label(*r.row)+": ") == c.words(asked, maxAsked)
	})
}

// requestLine is what was asked, in whole sentences, what was typed before what was pasted. It ends before a later sentence that ends with
// a colon: what such a sentence announces was most often pasted.
func (c *chooser) requestLine(row rows.Row) string {
	said := sentence.TypedFirst(cmp.Or(row.Text, titleOf(row)))
	var whole []string
	left := maxAsked
	for _, s := range sentencesOf(said) {
		if left -= size(s) + 2; left < 0 || len(whole) > 0 && strings.HasSuffix(s, ":") {
			break
		}
		whole = append(whole, s)
	}
	return c.label(row) + ": " + c.words(cmp.Or(joinSentences(whole), said), maxAsked)
}

// requestReason is why a prompt stands above what came of it.
type requestReason int

const (
	requestHelps    requestReason = iota // it says what a piece was for
	requestGroups                        // several pieces came of it
	requestExplains                      // a piece speaks of it, and is not understood without it
)

// loadAsked reads the prompts above what came of them: those that explain a piece, and of the others, those above several pieces and
// then the newest first, what there is room for.
func (c *chooser) loadAsked(ctx context.Context, left budget) error {
	shown := c.shown()
	var first []rows.Row // of each entry
	needs := map[rows.Entry]requestReason{}
	for i, p := range shown {
		if !p.sec.byEntry() || p.row.Kind != rows.Observation {
			continue
		}
		at := p.row.Entry()
		if c.continues(shown, i) {
			needs[at] = max(needs[at], requestGroups)
		} else {
			first = append(first, p.row)
		}
		if p.read().answers() {
			needs[at] = requestExplains
		}
	}
	slices.SortStableFunc(first, func(a, b rows.Row) int {
		return cmp.Or(cmp.Compare(needs[b.Entry()], needs[a.Entry()]), inTime(b, a))
	})
	entries, err := c.recall.entriesWithin(ctx, entryScope{prompts: true, most: 1}, first, moment{})
	left = left.minus(left.of(c.body()))
	for _, p := range shown { // what they say at full length comes before what was asked
		left = left.plus(left.of(p.text)).minus(left.of(p.whole))
	}
	c.asked = map[rows.Entry]request{}
	for _, entry := range entries {
		if len(entry) == 0 || entry[0].Kind != rows.Prompt {
			continue
		}
		asked, at := request{entry[0], c.requestLine(*entry[0])}, entry[0].Entry()
		rest := left.minus(left.of(asked.text)).minus(budget{chars: lineCost, tokens: lineTokens})
		tells := needs[at] == requestGroups || !c.brief() && standsAlone(entry[0].Text)
		if needs[at] == requestExplains || rest.left() && tells {
			c.asked[at], left = asked, rest
		}
	}
	return err
}

// standsAlone is for a request that says something by itself: a command, or more than a word of consent.
func standsAlone(asked string) bool { return strings.HasPrefix(asked, "/") || sentence.Telling(asked) }
