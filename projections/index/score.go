package index

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	segment "github.com/blevesearch/scorch_segment_api/v2"
)

const (
	// The usual constants of BM25.
	bm25K1 = 1.2
	bm25B  = 0.75

	// partWeight is what a piece of an identifier in a query is worth beside the whole.
	partWeight = 0.5

	// maxTerms is how many words of a query are looked for: of a pasted page the rarest ones.
	maxTerms = 48
)

// term is one word to look for.
type term struct {
	text   string
	weight float32
	idf    float32 // times weight
	count  uint64  // documents that hold it
}

// queryTerms returns the distinct terms of a text, without stop words unless there is nothing else.
func queryTerms(a *analyzer, text string) []term {
	weights, stops := map[string]float32{}, map[string]float32{}
	a.terms(cut(text, maxText), true, func(t []byte, r role) {
		switch r {
		case roleStop:
			stops[string(t)] = 1
		case rolePart:
			weights[string(t)] = max(weights[string(t)], partWeight)
		default:
			weights[string(t)] = 1
		}
	})
	if len(weights) == 0 {
		weights = stops
	}
	out := make([]term, 0, len(weights))
	for t, w := range weights {
		out = append(out, term{text: t, weight: w})
	}
	slices.SortFunc(out, func(a, b term) int { return cmp.Compare(a.text, b.text) })
	return out
}

// candidate is a document that may be among the best.
type candidate struct {
	segment int
	doc     uint32
	score   float32
	worth   []float32 // of each term in it
	ref     ref
}

// candidates is a heap with the worst on top.
type candidates []candidate

func (c candidates) Len() int           { return len(c) }
func (c candidates) Less(i, j int) bool { return c[i].score < c[j].score }
func (c candidates) Swap(i, j int)      { c[i], c[j] = c[j], c[i] }
func (c *candidates) Push(x any)        { *c = append(*c, x.(candidate)) }
func (c *candidates) Pop() any {
	old := *c
	x := old[len(old)-1]
	*c = old[:len(old)-1]
	return x
}

// offer keeps c if it is among the best so far.
func (s *search) offer(c candidate) {
	if len(s.best) < s.want {
		heap.Push(&s.best, c)
		return
	}
	if s.best[0].score < c.score {
		s.best[0] = c
		heap.Fix(&s.best, 0)
	}
}

// rank fills best with the documents that score highest.
func (s *search) rank(ctx context.Context, p checkpoint) error {
	lists, err := s.open(ctx)
	if err != nil {
		return err
	}
	docs, err := s.snap.DocCount()
	if err != nil {
		return fmt.Errorf("index: count: %w", err)
	}
	s.weighTerms(float64(docs), lists)
	norms := newNorms(p)
	return s.segments(ctx, func(n int, seg *scorch.SegmentSnapshot) error {
		if len(lists[n]) == 0 {
			return nil
		}
		allow, err := allowed(seg, s.conds, s.spans)
		if err != nil {
			return err
		}
		if allow != nil && allow.IsEmpty() {
			return nil
		}
		return s.score(n, seg, lists[n], allow, norms)
	})
}

// postings are the documents of one segment that hold a term.
type postings struct {
	term int
	list segment.PostingsList
}

// open finds the postings of every term in every segment, and counts them.
func (s *search) open(ctx context.Context) ([][]postings, error) {
	out := make([][]postings, len(s.snap.Segments()))
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
				out[n] = append(out[n], postings{i, list})
			}
		}
		return nil
	})
	return out, err
}

// weighTerms computes what each term is worth, and drops the most common ones of very many.
func (s *search) weighTerms(docs float64, lists [][]postings) {
	limit := uint64(math.MaxUint64)
	if len(s.terms) > maxTerms {
		counts := make([]uint64, 0, len(s.terms))
		for _, t := range s.terms {
			if t.count > 0 {
				counts = append(counts, t.count)
			}
		}
		slices.Sort(counts)
		if len(counts) > maxTerms {
			limit = counts[maxTerms-1]
		}
	}
	for i := range s.terms {
		t := &s.terms[i]
		n := float64(t.count)
		t.idf = t.weight * float32(math.Log(1+(docs-n+0.5)/(n+0.5)))
	}
	for n := range lists {
		lists[n] = slices.DeleteFunc(lists[n], func(p postings) bool { return s.terms[p.term].count > limit })
	}
}

// score offers the documents of one segment that hold any term.
func (s *search) score(n int, seg *scorch.SegmentSnapshot, lists []postings, allow *roaring.Bitmap, norms *norms) error {
	sc := s.scratches.get(int(seg.FullSize()))
	defer s.scratches.put(sc)
	for _, p := range lists {
		if err := sc.add(p, allow, s.terms[p.term].idf, norms); err != nil {
			return err
		}
	}
	for doc, score := range sc.scores {
		if score > 0 {
			s.total++
			s.offer(candidate{segment: n, doc: uint32(doc), score: score})
		}
	}
	for i := range s.best {
		c := &s.best[i]
		if c.segment != n {
			continue
		}
		var err error
		if c.ref, err = refOf(seg, uint64(c.doc)); err != nil {
			return err
		}
		c.worth = sc.worthOf(c.doc, len(s.terms))
	}
	return nil
}

// scratch is what scoring a segment needs. Its memory is used again by later queries.
type scratch struct {
	scores []float32 // by document
	lists  []weighed
	used   int // of lists
}

// weighed is the worth of a term in each document that holds it, by document.
type weighed struct {
	term  int
	docs  []uint32
	worth []float32
}

// scratches keeps the memory of scoring between queries: without it each makes a megabyte of garbage.
type scratches struct{ pool sync.Pool }

func (s *scratches) get(docs int) *scratch {
	sc, ok := s.pool.Get().(*scratch)
	if !ok {
		sc = new(scratch)
	}
	if cap(sc.scores) < docs {
		sc.scores = make([]float32, docs)
	}
	sc.scores = sc.scores[:docs]
	clear(sc.scores)
	sc.used = 0
	return sc
}

func (s *scratches) put(sc *scratch) { s.pool.Put(sc) }

// add scores the documents of one term by BM25.
func (sc *scratch) add(p postings, allow *roaring.Bitmap, idf float32, norms *norms) error {
	if sc.used == len(sc.lists) {
		sc.lists = append(sc.lists, weighed{})
	}
	w := &sc.lists[sc.used]
	sc.used++
	w.term, w.docs, w.worth = p.term, w.docs[:0], w.worth[:0]
	it := p.list.Iterator(true, true, false, nil)
	if allow != nil && !restrict(it, allow) {
		return nil
	}
	for {
		posting, err := it.Next()
		if err != nil {
			return fmt.Errorf("index: postings: %w", err)
		}
		if posting == nil {
			return nil
		}
		tf, doc := float32(posting.Frequency()), uint32(posting.Number())
		worth := idf * tf * (bm25K1 + 1) / (tf + norms.of(posting))
		w.docs, w.worth = append(w.docs, doc), append(w.worth, worth)
		sc.scores[doc] += worth
	}
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

// worthOf returns what each of n terms is worth in a document.
func (sc *scratch) worthOf(doc uint32, n int) []float32 {
	out := make([]float32, n)
	for _, w := range sc.lists[:sc.used] {
		if i, ok := slices.BinarySearch(w.docs, doc); ok {
			out[w.term] = w.worth[i]
		}
	}
	return out
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
