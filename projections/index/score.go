package index

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	segment "github.com/blevesearch/scorch_segment_api/v2"
)

// The usual constants of BM25; testkit/retrieval shows what others would do.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// postings are the documents of one segment that hold a term.
type postings struct {
	segment int
	list    segment.PostingsList
	only    *roaring.Bitmap // of them, those to look at; nil: all that pass the filters
}

// match finds the documents that hold any of the terms, and what the terms are worth in each and in each session.
func (s *search) match(ctx context.Context, p checkpoint) error {
	lists, err := s.openPostings(ctx)
	if err != nil {
		return err
	}
	docs, err := s.snap.DocCount()
	if err != nil {
		return fmt.Errorf("index: count: %w", err)
	}
	weighTerms(s.terms, float64(docs))
	if s.most > 0 {
		if err := s.bound(lists); err != nil {
			return err
		}
	}
	norms := newNorms(p)
	for i, t := range s.terms {
		if t.left {
			continue
		}
		for _, p := range lists[i] {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("index: search: %w", err)
			}
			if err := s.add(p, t.idf, norms); err != nil {
				return err
			}
		}
		s.endTerm()
	}
	return nil
}

// openPostings finds the postings of every term in every segment, and counts them.
func (s *search) openPostings(ctx context.Context) ([][]postings, error) {
	out := make([][]postings, len(s.terms))
	err := s.segments(ctx, func(n int, seg *scorch.SegmentSnapshot) error {
		dict, err := seg.Segment().Dictionary(fieldText)
		if err != nil {
			return fmt.Errorf("index: text: %w", err)
		}
		for i := range s.terms {
			list, err := dict.PostingsList([]byte(s.terms[i].text), seg.Deleted(), nil)
			if err != nil {
				return fmt.Errorf("index: postings: %w", err)
			}
			if count := list.Count(); count > 0 {
				s.terms[i].count += count
				if s.allow[n] == nil || !s.allow[n].IsEmpty() {
					out[i] = append(out[i], postings{segment: n, list: list})
				}
			}
		}
		return nil
	})
	return out, err
}

// weighTerms computes what each term is worth, and leaves out the most common ones of very many.
func weighTerms(terms []term, docs float64) {
	limit := uint64(math.MaxUint64)
	if len(terms) > maxTerms {
		var counts []uint64
		for _, t := range terms {
			if t.count > 0 {
				counts = append(counts, t.count)
			}
		}
		slices.Sort(counts)
		if len(counts) > maxTerms {
			limit = counts[maxTerms-1]
		}
	}
	for i := range terms {
		t := &terms[i]
		t.left = t.count == 0 || t.count > limit
		t.idf = t.weight * rarity(float64(t.count), docs)
	}
}

// rarity is BM25's worth of a term that n of all documents have; it is above 0.
func rarity(n, docs float64) float32 { return float32(math.Log(1 + (docs-n+0.5)/(n+0.5))) }

// add scores the documents of one term in one segment by BM25.
func (s *search) add(p postings, idf float32, norms *norms) error {
	s.postings = p.list.Iterator(true, true, false, s.postings)
	allow := s.allow[p.segment]
	if p.only != nil {
		allow = p.only
	}
	if allow != nil && !restrict(s.postings, allow) {
		return nil
	}
	for more := true; more; {
		docs, termScores := s.docs[:0], s.termScores[:0]
		for len(docs) < cap(docs) {
			posting, err := s.postings.Next()
			if err != nil {
				return fmt.Errorf("index: postings: %w", err)
			}
			if more = posting != nil; !more {
				break
			}
			docs, termScores = append(docs, uint32(posting.Number())), append(termScores, termScore(idf, posting, norms))
		}
		s.addAll(p.segment, docs, termScores)
	}
	return nil
}

// addAll adds to the scores of a segment's documents what a term is worth in each. It is apart from the reading of postings because it
// waits for memory, for one document while for another.
func (s *search) addAll(n int, docs []uint32, termScores []float32) {
	scores, sessions := s.scoresOf(n), s.cols[n].session
	for i, doc := range docs {
		if scores[doc] == 0 {
			s.found[n] = append(s.found[n], doc)
		}
		scores[doc] += termScores[i]
	}
	for i, doc := range docs {
		s.raise(sessions[doc], termScores[i])
	}
}

// termScore is what a term adds to the score of a document: BM25.
func termScore(idf float32, p segment.Posting, norms *norms) float32 {
	tf := float32(p.Frequency())
	return idf * tf * (bm25K1 + 1) / (tf + norms.of(p))
}

// restrict narrows it to the allowed documents; it reports whether there are any.
func restrict(it segment.PostingsIterator, allow *roaring.Bitmap) bool {
	narrow, ok := it.(segment.OptimizablePostingsIterator)
	if !ok {
		return false
	}
	if doc, ok := narrow.DocNum1Hit(); ok {
		return allow.Contains(uint32(doc))
	}
	actual := narrow.ActualBitmap()
	if actual == nil {
		return false
	}
	both := roaring.And(actual, allow)
	narrow.ReplaceActual(both)
	return !both.IsEmpty()
}

// scratch is what scoring needs. Its memory is used again by later queries: without that each makes a megabyte of garbage.
type scratch struct {
	scores     []float32    // by document, segment after segment; 0 but for what was found
	found      [][]uint32   // by segment: the documents whose score is not 0
	covered    []float32    // by session: the sum over the terms of the most that each is worth in one of its documents
	most       []float32    // by session: the same for the term at hand
	raised     []uint32     // the sessions for which most is not 0
	docs       [256]uint32  // of postings at hand
	termScores [256]float32 // of docs
	best       []candidate  // until hits sorts it, in any order and up to twice as many as are wanted
}

// raise notes that the term at hand adds so much to a document of a session.
func (sc *scratch) raise(group uint32, score float32) {
	if group == 0 {
		return
	}
	if m := sc.most[group]; m < score {
		if m == 0 {
			sc.raised = append(sc.raised, group)
		}
		sc.most[group] = score
	}
}

// endTerm adds the term at hand to what each session covers: many documents that say the same count once.
func (sc *scratch) endTerm() {
	for _, g := range sc.raised {
		sc.covered[g] += sc.most[g]
		sc.most[g] = 0
	}
	sc.raised = sc.raised[:0]
}

// scratches keeps the memory of scoring between queries.
type scratches struct{ pool sync.Pool }

func (s *scratches) get(docs, groups, segments int) *scratch {
	sc, ok := s.pool.Get().(*scratch)
	if !ok {
		sc = new(scratch)
	}
	if cap(sc.scores) < docs {
		sc.scores = make([]float32, docs)
	}
	sc.scores = sc.scores[:docs] // put left it empty
	sc.covered, sc.most, sc.raised = zeroed(sc.covered, groups), zeroed(sc.most, groups), sc.raised[:0]
	for len(sc.found) < segments {
		sc.found = append(sc.found, nil)
	}
	return sc
}

// put takes back what s used. Only the scores that it set are cleared: most searches find little of what there is.
func (s *scratches) put(run *search) {
	for n, docs := range run.found[:len(run.cols)] {
		scores := run.scoresOf(n)
		for _, doc := range docs {
			scores[doc] = 0
		}
		run.found[n] = docs[:0]
	}
	run.best = run.best[:0]
	s.pool.Put(run.scratch)
}

func zeroed(list []float32, n int) []float32 {
	if cap(list) < n {
		return make([]float32, n)
	}
	list = list[:n]
	clear(list)
	return list
}

// norms is BM25's penalty by length, computed once a query for the lengths that are common.
type norms struct {
	average float32
	table   [512]float32
}

func newNorms(p checkpoint) *norms {
	n := &norms{average: 1}
	if p.Added > 0 && p.Length > 0 {
		n.average = float32(p.Length) / float32(p.Added)
	}
	for i := range n.table {
		n.table[i] = n.penalty(i)
	}
	return n
}

func (n *norms) penalty(length int) float32 {
	return bm25K1 * (1 - bm25B + bm25B*float32(length)/n.average)
}

// of reads the length of the posting's document, which scorch hands out as 1/sqrt(length).
func (n *norms) of(p segment.Posting) float32 {
	norm := p.Norm()
	length := int(math.Round(1 / (norm * norm)))
	if length >= 0 && length < len(n.table) {
		return n.table[length]
	}
	return n.penalty(length)
}
