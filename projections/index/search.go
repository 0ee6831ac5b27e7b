package index

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	"github.com/cmemd/cmemd/events"
)

// defaultLimit is how many hits a query without a limit gets.
const defaultLimit = 100

// Sort is an order of hits.
type Sort int

// The orders.
const (
	Relevance Sort = iota // the best first; without a text the newest
	Newest
	Oldest
)

// Query says what to look for. The zero value finds everything, newest first.
type Query struct {
	Text string // any of its words; empty: everything that passes the filters, newest first

	Project  string   // root or shown name; this and the following filters: empty means any
	Projects []string // more of them: any one will do
	Rootless []string // or, beside those: shown names of what has no root
	Session  string   // our id, or the agent's or the saver's own name
	Agent    string
	Type     string
	Concept  string // in any letter case
	File     string // the end of a path, from the start of a folder's or the file's name; or that of a folder: what lies in it
	FileIn   FileIn // beside File: what names the same
	Kinds    []Kind
	Since    time.Time       // of what it is about, inclusive, to the millisecond
	Until    time.Time       // inclusive, to the millisecond
	AsOf     events.Position // nothing that was recorded later; 0: now

	// Also are documents found by other means than words. They come into no hit; those that pass the filters are counted
	// among what matches, in Total and Facets, whether or not they hold a word of Text.
	Also []events.Position

	// Most bounds what a search costs: the rarest words are looked for, together in so many documents at most; where hardly
	// any word is so rare, in the newest documents, about. 0, or with Explain: all words in all documents.
	Most int

	Sort    Sort
	Recency float64 // how much more the newest is worth than the very old: 0.1 is a tenth. 0: DefaultRecency; below 0: none
	Limit   int     // hits; 0 means 100
	Facets  bool    // count the values of all that match
	Explain bool    // say of each hit why it has its score
}

// Hit is one document that was found. What it says is in the views.
type Hit struct {
	ID       events.ID
	Kind     Kind
	Position events.Position
	At       time.Time
	Score    float64      // higher is better; 0 without a text
	Explain  *Explanation // if asked for, and there is a text
}

// Result is the answer to a query.
type Result struct {
	Position events.Position // what the index knew
	Hits     []Hit           // best first; without a text newest first. A smaller Limit gives the beginning of the same order
	Total    int             // documents that matched, and of Query.Also those that did not
	Facets   *Facets         // if asked for
}

// Search returns the best hits for q. It is safe for concurrent use. The error is ctx's, ErrClosed, ErrRebuilding, or the
// system's: an empty answer always means that nothing matches.
func (x *Index) Search(ctx context.Context, q Query) (Result, error) {
	return ask(ctx, x, rebuildWait, func(s *store) (Result, error) { return s.search(ctx, x.analyzer, &x.scratches, q) })
}

func (s *store) search(ctx context.Context, a *analyzer, pool *scratches, q Query) (res Result, err error) {
	defer guard(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	snap, err := s.snapshot()
	if err != nil {
		return Result{}, err
	}
	defer snap.Close()
	point, err := pointOf(snap)
	if err != nil {
		return Result{}, err
	}
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	run, err := s.prepare(ctx, snap, a, pool, q)
	if err != nil {
		return Result{}, err
	}
	defer pool.put(run)
	return run.answer(ctx, q, point, &s.columns)
}

// answer finds what matches, and makes of it what q asks for.
func (s *search) answer(ctx context.Context, q Query, point checkpoint, cache *columnCache) (res Result, err error) {
	res.Position = point.Position
	switch {
	case len(s.terms) > 0:
		if err := s.match(ctx, point); err != nil {
			return Result{}, err
		}
	case q.Text != "" && len(q.Also) == 0:
		return res, nil // nothing in it is a word
	}
	if err := s.choose(ctx); err != nil {
		return Result{}, err
	}
	s.alongside(q.Also)
	res.Total = s.total
	if res.Hits, err = s.hits(q.Limit); err != nil {
		return Result{}, err
	}
	if q.Facets {
		if res.Facets, err = s.facets(cache); err != nil {
			return Result{}, err
		}
	}
	if q.Explain && len(s.terms) > 0 {
		why, err := s.explain(point)
		if err != nil {
			return Result{}, err
		}
		for i, e := range why {
			res.Hits[i].Explain = e
		}
	}
	return res, nil
}

// search is one query under way.
type search struct {
	*scratch
	snap      *scorch.IndexSnapshot
	cols      []*columns        // by segment
	first     []int             // by segment: where its documents begin in scores; one more for the end
	allow     []*roaring.Bitmap // by segment: documents that pass the filters; nil: all
	penalties []float32         // by session: what its score is divided by
	terms     []term
	dates     []mention
	onDate    []float32 // what each of dates is worth
	conds     []condition
	span      span
	sort      Sort
	recency   float64
	nothing   bool // there is a text, and nothing in it is a word
	ages      *recencyTable
	want      int
	most      int // documents to look at for the words together; 0: all
	cache     *columnCache
	postings  segment.PostingsIterator // the one at hand, whose memory the next one uses
	total     int
	also      [][]uint32 // by segment: documents that are counted though they do not match; nil: none anywhere
	bar       *candidate // of best: what comes behind it is not wanted; nil: there is none yet
}

// prepare reads what the query needs of every segment.
func (s *store) prepare(ctx context.Context, snap *scorch.IndexSnapshot, a *analyzer, pool *scratches, q Query) (*search, error) {
	cols, penalties, err := s.columns.of(snap)
	if err != nil {
		return nil, err
	}
	run := &search{
		snap: snap, cols: cols, penalties: penalties, terms: queryTerms(a, q.Text), dates: mentions(q.Text), conds: q.conditions(),
		span: q.span(), sort: q.Sort,
		recency: q.Recency, want: max(q.Limit, reorderedHits), cache: &s.columns, first: make([]int, len(cols)+1),
		allow: make([]*roaring.Bitmap, len(cols)),
	}
	run.nothing = q.Text != "" && len(run.terms) == 0
	if !q.Explain {
		run.most = max(0, q.Most)
	}
	if q.Recency == 0 {
		run.recency = DefaultRecency
	}
	if q.Text == "" && q.Sort == Relevance {
		run.sort = Newest
	}
	for n, col := range cols {
		run.first[n+1] = run.first[n] + len(col.at)
	}
	err = run.segments(ctx, func(n int, seg *scorch.SegmentSnapshot) (err error) {
		run.allow[n], err = run.allowed(seg, cols[n])
		return err
	})
	if err != nil {
		return nil, err
	}
	run.scratch = pool.get(run.first[len(cols)], len(penalties), len(cols))
	return run, nil
}

// scoresOf returns the scores of a segment's documents.
func (s *search) scoresOf(n int) []float32 { return s.scores[s.first[n]:s.first[n+1]] }

// segments calls visit for every segment.
func (s *search) segments(ctx context.Context, visit func(n int, seg *scorch.SegmentSnapshot) error) error {
	for n, seg := range s.snap.Segments() {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("index: search: %w", err)
		}
		if err := visit(n, seg); err != nil {
			return err
		}
	}
	return nil
}
