package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections"
	"github.com/cmemd/cmemd/projections/index"
)

const (
	// DefaultLimit and MaxLimit are how many items a search returns at most: without a wish, and whatever the wish.
	DefaultLimit = 20
	MaxLimit     = 100

	// maxOffset bounds paging: who wants to read everything exports the log.
	maxOffset = 10_000

	// spare is how many hits more than asked for are looked at, for those that turn out to be superseded or folded.
	spare = 40

	// phraseWorth is what every pair of words that stand in a row as they stand in the query adds, as a part of the score,
	// and phraseMost what all pairs together add at most.
	phraseWorth = 0.15
	phraseMost  = 0.45
)

// ErrBadQuery is a query that cannot be answered: a kind that does not exist, a limit or offset out of range.
var ErrBadQuery = errors.New("recall: bad query")

// Query says what to look for. The zero value finds the newest rows of all kinds.
type Query struct {
	Text string // any of its words; empty: what passes the filters, newest first

	Project string             // root or shown name; this and the following filters: empty means any
	Kinds   []projections.Kind // any of observation, summary, memory, prompt
	Type    string
	Concept string
	File    string // the end of a path
	Session string // our id, or the agent's or the saver's own name
	Agent   string
	Since   time.Time // inclusive, as Until
	Until   time.Time
	AsOf    events.Position // as it was known then; what was forgotten since stays forgotten. 0: now

	Limit  int             // 0 means DefaultLimit; at most MaxLimit
	Offset int             // items to pass over; at most 10,000
	After  events.Position // wait until this is known; 0: do not wait
}

// Answer is the answer to a query.
type Answer struct {
	Position events.Position `json:"position"` // what it knew
	Results  []Item          `json:"results"`  // best first; without a text newest first. Never nil
	Total    int             `json:"total"`    // rows that match: all that paging can show; far from the end perhaps a few less come
}

// Search returns the rows that match q. Errors: ErrBadQuery, ctx's, those of the views and of the index. No result is
// no error, and no error is ever an empty result.
func (r *Recall) Search(ctx context.Context, q Query) (Answer, error) {
	iq, err := q.check()
	if err != nil {
		return Answer{}, err
	}
	if err := r.Wait(ctx, q.After); err != nil {
		return Answer{}, err
	}
	known := r.views.Position()
	want := q.Offset + q.Limit
	for iq.Limit = want + spare; ; iq.Limit *= 4 {
		found, err := r.index.Search(ctx, iq)
		if err != nil {
			return Answer{}, fmt.Errorf("recall: %w", err)
		}
		hits, err := r.live(ctx, q, found.Hits)
		if err != nil {
			return Answer{}, err
		}
		if len(hits) <= want && len(found.Hits) == iq.Limit {
			continue // too many of them are not to be shown, to fill the page or to know whether one comes after it
		}
		total := found.Total - (len(found.Hits) - len(hits)) // those not looked at count; that there is one more is known
		return Answer{Position: min(known, found.Position), Total: total, Results: q.page(hits)}, nil
	}
}

// check fills in what q leaves open and translates it.
func (q *Query) check() (index.Query, error) {
	if q.Limit == 0 {
		q.Limit = DefaultLimit
	}
	if q.Limit < 0 || q.Limit > MaxLimit {
		return index.Query{}, fmt.Errorf("%w: limit %d is not 1 to %d", ErrBadQuery, q.Limit, MaxLimit)
	}
	if q.Offset < 0 || q.Offset > maxOffset {
		return index.Query{}, fmt.Errorf("%w: offset %d is not 0 to %d", ErrBadQuery, q.Offset, maxOffset)
	}
	iq := index.Query{
		Text: q.Text, Project: q.Project, Session: q.Session, Agent: q.Agent, Type: q.Type, Concept: q.Concept,
		File: q.File, Since: q.Since, Until: q.Until, AsOf: q.AsOf,
	}
	for _, kind := range q.Kinds {
		k, ok := indexKind(kind)
		if !ok {
			return index.Query{}, fmt.Errorf("%w: kind %q is not observation, summary, memory or prompt", ErrBadQuery, kind)
		}
		iq.Kinds = append(iq.Kinds, k)
	}
	return iq, nil
}

func indexKind(k projections.Kind) (index.Kind, bool) {
	for _, c := range []index.Kind{index.Observation, index.Summary, index.Memory, index.Prompt} {
		if c.String() == string(k) {
			return c, true
		}
	}
	return 0, false
}

// hit is a row that was found and is to be shown.
type hit struct {
	row   projections.Row
	score float64
}

// live reads the rows of hits, and keeps those that answers may show.
func (r *Recall) live(ctx context.Context, q Query, found []index.Hit) ([]hit, error) {
	ids := make([]events.ID, len(found))
	for i, h := range found {
		ids[i] = h.ID
	}
	rows, err := r.views.Rows(ctx, ids...)
	if err != nil {
		return nil, fmt.Errorf("recall: %w", err)
	}
	seen := make(map[events.ID]bool, len(rows))
	words := wordsOf(q.Text)
	var hits []hit
	for i, row := range rows {
		ok := row.Listed()
		if !ok && q.AsOf > 0 && row.Superseded {
			if ok, err = r.stoodAt(ctx, row, q.AsOf); err != nil {
				return nil, err
			}
		}
		if !ok || seen[row.ID] {
			continue
		}
		seen[row.ID] = true
		hits = append(hits, hit{row, found[i].Score * (1 + phraseBoost(row, words))})
	}
	if len(words) > 1 {
		slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	}
	return hits, nil
}

// stoodAt reports whether a row that is superseded now was not yet at a position.
func (r *Recall) stoodAt(ctx context.Context, row projections.Row, at events.Position) (bool, error) {
	if row.Forgotten || row.Private || row.FoldedInto != (events.ID{}) {
		return false, nil
	}
	by, err := r.views.Row(ctx, row.SupersededBy)
	if err == nil {
		return by.Position > at, nil
	}
	turn, err := r.views.Turn(ctx, row.SupersededBy)
	if errors.Is(err, projections.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("recall: %w", err)
	}
	return turn.Ended > at, nil
}

// page cuts out what was asked for.
func (q Query) page(hits []hit) []Item {
	hits = hits[min(q.Offset, len(hits)):]
	items := make([]Item, 0, q.Limit)
	words := wordsOf(q.Text)
	for _, h := range hits[:min(q.Limit, len(hits))] {
		it := itemOf(h.row)
		it.Score, it.Snippet = h.score, snippet(h.row, it.Title, words)
		items = append(items, it)
	}
	return items
}

// maxPhraseWords is how many words of a query are looked at in a row: people do not remember longer phrases.
const maxPhraseWords = 16

// wordsOf splits a query into lower-case words for phrases and snippets; finding is the index's.
func wordsOf(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return c <= ' ' || strings.ContainsRune(`,;:!?"()[]{}`, c) })
	return words[:min(len(words), maxPhraseWords)]
}

// phraseBoost is what the pairs of neighbouring words that the row holds as they stand in the query are worth.
func phraseBoost(row projections.Row, words []string) float64 {
	if len(words) < 2 {
		return 0
	}
	text := strings.ToLower(strings.Join(textsOf(row), "\n"))
	boost := 0.0
	for i := range len(words) - 1 {
		if strings.Contains(text, words[i]+" "+words[i+1]) {
			boost += phraseWorth
		}
	}
	return min(boost, phraseMost)
}

const (
	snippetLength = 160 // characters
	snippetBefore = 50  // bytes of them before the word, about
)

// snippet returns the text around the first of the query's words that stands in the row outside its title.
func snippet(row projections.Row, title string, words []string) string {
	for _, text := range textsOf(row) {
		if text == "" || oneLine(text, maxTitle) == title && size(text) <= maxTitle {
			continue
		}
		at := firstOf(text, words)
		if at < 0 {
			continue
		}
		from := max(0, at-snippetBefore)
		if from > 0 {
			if i := strings.IndexByte(text[from:at], ' '); i >= 0 {
				from += i + 1
			} else {
				from = at
			}
		}
		s := oneLine(text[from:], snippetLength)
		if from > 0 {
			s = ellipsis + s
		}
		return s
	}
	return ""
}

// firstOf returns where the first of words begins in text, in any letter case; -1 if none is there.
func firstOf(text string, words []string) int {
	low := strings.ToLower(text)
	if len(low) != len(text) {
		low = text // letters whose case forms differ in length: as written only
	}
	best := -1
	for _, w := range words {
		if len(w) < 3 && len(words) > 1 {
			continue
		}
		if i := strings.Index(low, w); i >= 0 && (best < 0 || i < best) {
			best = i
		}
	}
	return best
}
