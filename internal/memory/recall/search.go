package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections"
	"github.com/cmemd/cmemd/projections/index"
)

const (
	// DefaultLimit and MaxLimit are how many items a search returns at most: where none is asked for, and whatever is asked for.
	DefaultLimit = 20
	MaxLimit     = 100

	// MaxOffset bounds paging: who wants to read everything exports the log.
	MaxOffset = 10_000

	// MaxRecency is the most that the newest can be worth above the very old.
	MaxRecency = 10.0
)

// ErrBadQuery is a query that cannot be answered: a kind that does not exist, a limit or offset out of range.
var ErrBadQuery = errors.New("recall: bad query")

// Sort is an order of results.
type Sort string

// The orders. Empty is Relevance.
const (
	Relevance Sort = "relevance" // best first; without a text newest first
	Newest    Sort = "newest"
	Oldest    Sort = "oldest"
)

// Query says what to look for. The zero value finds the newest rows of all kinds.
type Query struct {
	Text string // any of its words; empty: what passes the filters, newest first

	Project string             // its root, or its shown name; this and the following filters: empty means any
	Of      Project            // with a root in Project: what is known of it beside that
	Kinds   []projections.Kind // any of observation, summary, memory, prompt
	Type    string
	Concept string
	File    string // the end of a path, or of a folder's: what lies in it; an absolute one in every folder of its project
	FileIn  FileIn // with an absolute File: what is known of where it lies
	Session string // our id, or the agent's or the saver's own name
	Agent   string
	Since   time.Time // inclusive, as Until
	Until   time.Time
	AsOf    events.Position // as it was known then; what was forgotten since stays forgotten. 0: now

	Sort    Sort
	Recency float64         // how much more the newest is worth than the very old: 0.1 is a tenth. 0: as configured; below 0: none
	Limit   int             // 0 means DefaultLimit; at most MaxLimit
	Offset  int             // items to pass over; at most MaxOffset
	After   events.Position // wait until this is known; 0: do not wait
	Facets  bool            // count the values of all that match
	Explain bool            // say of each result why it has its score
	Near    bool            // look for what means the same too, where there are vectors

	most int // documents to look at for the words together; 0: all. See index.Query
}

// Answer is the answer to a query.
type Answer struct {
	Position events.Position `json:"position"`         // what it knew
	Results  []Item          `json:"results"`          // in the order asked for. Never nil
	Total    int             `json:"total"`            // rows that match: all that paging can show; far from the end perhaps a few less come
	Facets   *Facets         `json:"facets,omitempty"` // if asked for
	Near     bool            `json:"near,omitempty"`   // vectors were looked at too
	Note     string          `json:"note,omitempty"`   // what a person should know of the vectors that were not, or not all, looked at
}

// Facets says how what matches is spread, found by words or by what it means: how many have each value, the most frequent 50;
// months are in UTC, the newest first. Rows that were superseded or folded since are counted too.
type Facets struct {
	Project []Count `json:"project"` // shown names; these lists are never nil
	Type    []Count `json:"type"`
	Concept []Count `json:"concept"`
	File    []Count `json:"file"`
	Month   []Count `json:"month"` // 2026-01
}

// Count is how many of the rows that match have a value.
type Count struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

// Search returns the rows that match q. Errors: ErrBadQuery, ctx's, those of the views and of the index. No result is
// no error, and no error is ever an empty result.
func (r *Recall) Search(ctx context.Context, q Query) (Answer, error) {
	if err := q.check(); err != nil {
		return Answer{}, err
	}
	if err := r.Wait(ctx, q.After); err != nil {
		return Answer{}, err
	}
	known := r.views.Position()
	iq, err := r.translate(ctx, q)
	if err != nil {
		return Answer{}, err
	}
	then, err := r.momentOf(ctx, q.AsOf)
	if err != nil {
		return Answer{}, fmt.Errorf("recall: %w", err)
	}
	semantic, err := r.semantic(ctx, q, iq, then)
	if err != nil {
		return Answer{}, err
	}
	l := newResultSet(r, q, iq, then, semantic)
	if err := l.fill(ctx, q.Offset+q.Limit); err != nil {
		return Answer{}, err
	}
	out := q.Nothing(min(known, l.found.Position))
	out.Total, out.Results, out.Near, out.Note = l.total(), r.page(q, l.shown), semantic.used, semantic.note
	if l.facets != nil {
		out.Facets = facetsOf(l.facets)
	}
	return out, nil
}

// Nothing is the answer to q where nothing matches, by what is known at a position.
func (q Query) Nothing(known events.Position) Answer {
	out := Answer{Position: known, Results: []Item{}}
	if q.Facets {
		out.Facets = facetsOf(&index.Facets{})
	}
	return out
}

// facetsOf is f as answers show it.
func facetsOf(f *index.Facets) *Facets {
	counts := func(list []index.Count) []Count {
		out := make([]Count, len(list))
		for i, c := range list {
			out[i] = Count(c)
		}
		return out
	}
	return &Facets{
		Project: counts(f.Project), Type: counts(f.Type), Concept: counts(f.Concept), File: counts(f.File), Month: counts(f.Month),
	}
}

// check fills in what q leaves open, and says what is wrong with it.
func (q *Query) check() error {
	if q.Limit == 0 {
		q.Limit = DefaultLimit
	}
	if q.Limit < 0 || q.Limit > MaxLimit {
		return fmt.Errorf("%w: limit %d is not 1 to %d", ErrBadQuery, q.Limit, MaxLimit)
	}
	if q.Offset < 0 || q.Offset > MaxOffset {
		return fmt.Errorf("%w: offset %d is not 0 to %d", ErrBadQuery, q.Offset, MaxOffset)
	}
	if q.Recency > MaxRecency || q.Recency != q.Recency {
		return fmt.Errorf("%w: recency %v is above %v", ErrBadQuery, q.Recency, MaxRecency)
	}
	return nil
}

// translate puts q in the words of the index.
func (r *Recall) translate(ctx context.Context, q Query) (index.Query, error) {
	iq := index.Query{
		Text: q.Text, Project: q.Project, Session: q.Session, Agent: q.Agent, Type: q.Type, Concept: q.Concept, File: q.File,
		Since: q.Since, Until: q.Until, AsOf: q.AsOf, Most: q.most, Recency: cmp.Or(q.Recency, r.recency), Facets: q.Facets, Explain: q.Explain,
	}
	switch q.Sort {
	case "", Relevance:
	case Newest:
		iq.Sort = index.Newest
	case Oldest:
		iq.Sort = index.Oldest
	default:
		return iq, fmt.Errorf("%w: sort %q is not %s, %s or %s", ErrBadQuery, q.Sort, Relevance, Newest, Oldest)
	}
	for _, kind := range q.Kinds {
		k, ok := indexKind(kind)
		if !ok {
			return iq, fmt.Errorf("%w: kind %q is not observation, summary, memory or prompt", ErrBadQuery, kind)
		}
		iq.Kinds = append(iq.Kinds, k)
	}
	var err error
	if iq.FileIn, err = r.fileIn(ctx, q); err != nil || !isRoot(q.Project) {
		return iq, err
	}
	folders, err := r.views.Folders(ctx, q.Project, q.Of.Key)
	if err != nil {
		return iq, fmt.Errorf("recall: %w", err)
	}
	iq.Projects, iq.Rootless = folders, q.Of.Name
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
	row     projections.Row
	score   float64
	phrase  float64 // what the score was raised by for words that stand together, as a part of it
	why     *index.Explanation
	similar []events.ID // rows that say nearly the same, and are not shown
	count   int         // how often these say it
	ranks   *Ranks      // where it stands in what was fused; nil: in one list alone
}

// page cuts out what was asked for.
func (r *Recall) page(q Query, hits []hit) []Item {
	hits = hits[min(q.Offset, len(hits)):]
	items := make([]Item, 0, q.Limit)
	words := wordsOf(q.Text)
	for _, h := range hits[:min(q.Limit, len(hits))] {
		it := itemOf(h.row)
		it.Score, it.Snippet, it.Similar = h.score, snippet(h.row, it.Title, words), h.similar
		if h.count > 0 {
			it.Count = max(1, h.row.Count) + h.count
		}
		if q.Explain {
			it.Ranks = h.ranks
		}
		if h.why != nil {
			it.Explain = r.explain(h)
		}
		items = append(items, it)
	}
	return items
}
