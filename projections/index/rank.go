package index

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/cmemd/cmemd/events"
)

const (
	// sessionWorth is what the query's words are worth in the other hits of a session: a memory is likelier the right
	// one if what surrounds it speaks of the rest of the question.
	sessionWorth = 0.6

	// promptWorth lowers prompts: they say what was asked for, not what was found.
	promptWorth = 0.6

	// freshWorth and freshHalf prefer the recent: by a tenth at most, halved every thirty days behind the newest hit.
	freshWorth = 0.1
	freshHalf  = 30 * day
)

// hits orders the candidates for the answer.
func (s *search) hits() []Hit {
	newest := time.Time{}
	for _, c := range s.best {
		if c.ref.at.After(newest) {
			newest = c.ref.at
		}
	}
	covered := s.covered()
	out := make([]Hit, len(s.best))
	for i, c := range s.best {
		out[i] = Hit{ID: c.ref.id, Kind: c.ref.kind, Position: c.ref.position, At: c.ref.at, Session: c.ref.group}
		if len(s.terms) == 0 {
			continue
		}
		around := float64(c.score)
		if !c.ref.group.IsZero() {
			around = covered[c.ref.group]
		}
		own := float64(c.score) * (1 + freshWorth*freshness(newest.Sub(c.ref.at)))
		if c.ref.kind == Prompt {
			own *= promptWorth
		}
		out[i].Score = own + sessionWorth*around
	}
	slices.SortFunc(out, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), b.At.Compare(a.At), cmp.Compare(b.Position, a.Position), bytes.Compare(a.ID[:], b.ID[:]))
	})
	return out
}

// freshness is 1 for the newest, halved every freshHalf.
func freshness(age time.Duration) float64 { return math.Exp2(-float64(age) / float64(freshHalf)) }

// covered returns, for each session, the sum over the query's terms of the most that the term is worth in one of its
// hits: many hits that say the same count once.
func (s *search) covered() map[events.SessionID]float64 {
	most := map[events.SessionID][]float32{}
	for _, c := range s.best {
		if c.ref.group.IsZero() {
			continue
		}
		m, ok := most[c.ref.group]
		if !ok {
			m = make([]float32, len(c.worth))
			most[c.ref.group] = m
		}
		for t, w := range c.worth {
			m[t] = max(m[t], w)
		}
	}
	out := make(map[events.SessionID]float64, len(most))
	for group, m := range most {
		for _, w := range m {
			out[group] += float64(w)
		}
	}
	return out
}

// newest fills best with the newest documents that pass the filters. It goes back day by day until it has enough.
func (s *search) newest(ctx context.Context) error {
	segs := s.snap.Segments()
	allow := make([]*roaring.Bitmap, len(segs))
	days := map[string]bool{}
	err := s.segments(ctx, func(n int, seg *scorch.SegmentSnapshot) error {
		b, err := allowed(seg, s.conds, s.spans)
		if err != nil {
			return err
		}
		if b == nil {
			b = seg.DocNumbersLive()
		}
		allow[n] = b
		s.total += int(b.GetCardinality())
		return daysOf(seg, days)
	})
	if err != nil {
		return err
	}
	order := make([]string, 0, len(days))
	for d := range days {
		order = append(order, d)
	}
	slices.SortFunc(order, func(a, b string) int { return cmp.Compare(b, a) })
	for _, d := range order {
		if len(s.best) >= min(s.want, s.total) {
			break
		}
		if err := s.addDay(ctx, d, allow); err != nil {
			return err
		}
	}
	return nil
}

func daysOf(seg *scorch.SegmentSnapshot, days map[string]bool) error {
	dict, err := seg.Segment().Dictionary(fieldDay)
	if err != nil {
		return fmt.Errorf("index: day: %w", err)
	}
	for it := dict.AutomatonIterator(nil, nil, nil); ; {
		entry, err := it.Next()
		if err != nil {
			return fmt.Errorf("index: day: %w", err)
		}
		if entry == nil {
			return nil
		}
		days[entry.Term] = true
	}
}

// addDay adds all documents of one day that pass.
func (s *search) addDay(ctx context.Context, day string, allow []*roaring.Bitmap) error {
	return s.segments(ctx, func(n int, seg *scorch.SegmentSnapshot) error {
		found, err := condition{fieldDay, []string{day}}.find(seg)
		if err != nil {
			return err
		}
		found.And(allow[n])
		for it := found.Iterator(); it.HasNext(); {
			doc := it.Next()
			r, err := refOf(seg, uint64(doc))
			if err != nil {
				return err
			}
			s.best = append(s.best, candidate{segment: n, doc: doc, ref: r})
		}
		return nil
	})
}
