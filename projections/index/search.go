package index

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/cmemd/cmemd/events"
)

// defaultLimit is how many hits a query without a limit gets; as many at least are ranked.
const defaultLimit = 100

// Query says what to look for. The zero value finds everything, newest first.
type Query struct {
	Text string // any of its words; empty: everything that passes the filters, newest first

	Project string // root or shown name; this and the following filters: empty means any
	Session string // our id, or the agent's or the saver's own name
	Agent   string
	Type    string
	Concept string // in any letter case
	File    string // the end of a path, from the start of a folder's or the file's name
	Kinds   []Kind
	Since   time.Time       // of what it is about, inclusive, to the millisecond
	Until   time.Time       // inclusive, to the millisecond
	AsOf    events.Position // nothing that was recorded later; 0: now

	Limit int // hits; 0 means 100
}

// Hit is one document that was found. What it says is in the views.
type Hit struct {
	ID       events.ID
	Kind     Kind
	Position events.Position
	At       time.Time
	Session  events.SessionID // or what stands for the session that a saved memory names; zero: none
	Score    float64          // higher is better; 0 without a text
}

// Result is the answer to a query.
type Result struct {
	Position events.Position // what the index knew
	Hits     []Hit           // best first; without a text newest first
	Total    int             // documents that matched
}

// Search returns the best hits for q. It is safe for concurrent use. The error is ctx's, ErrClosed, or one that says
// what is wrong with the index: an empty answer always means that nothing matches.
func (x *Index) Search(ctx context.Context, q Query) (Result, error) {
	for {
		s, err := x.current()
		if err != nil {
			return Result{}, err
		}
		res, err := s.search(ctx, x.analyzer, &x.scratches, q)
		if errors.Is(err, errStoreClosed) && s != x.store.Load() {
			continue // a newer one took its place meanwhile
		}
		if errors.Is(err, errDamaged) {
			x.suspect()
		}
		return res, err
	}
}

func (s *store) search(ctx context.Context, a *analyzer, sc *scratches, q Query) (res Result, err error) {
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
	run := &search{
		snap: snap, scratches: sc, terms: queryTerms(a, q.Text), conds: q.conditions(), spans: q.spans(),
		want: max(q.Limit, defaultLimit),
	}
	switch {
	case len(run.terms) > 0:
		err = run.rank(ctx, point)
	case q.Text == "":
		err = run.newest(ctx)
	}
	if err != nil {
		return Result{}, err
	}
	hits := run.hits()
	return Result{Position: point.Position, Total: run.total, Hits: hits[:min(len(hits), q.Limit)]}, nil
}

// search is one query under way.
type search struct {
	snap *scorch.IndexSnapshot
	*scratches
	terms []term
	conds []condition
	spans []span
	want  int
	total int
	best  candidates
}

// segments calls visit for every segment and the documents of it that pass the filters.
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
