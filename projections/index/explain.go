package index

import (
	"cmp"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/cmemd/cmemd/internal/order"
)

// Parts is what a score is made of: Words * Kind * (1 + Recency) + Session + Date + Near.
type Parts struct {
	Words   float64 `json:"words"`             // BM25 of the query's words in it
	Kind    float64 `json:"kind"`              // 1; less for prompts
	Recency float64 `json:"recency,omitempty"` // what being recent adds to 1
	Session float64 `json:"session"`           // what all of its session holds of the query
	Date    float64 `json:"date,omitempty"`    // it is of a day, month or year that the query names
	Near    float64 `json:"near,omitempty"`    // what stands next to it in its session
	Score   float64 `json:"-"`
}

// Explanation says why a document has its score.
type Explanation struct {
	Parts
	Terms []TermScore `json:"terms"` // of the query that it holds, what is worth most first
}

// TermScore is what one word of a query adds to Words.
type TermScore struct {
	Term      string  `json:"term"`      // as it is in the index: lower case, stemmed
	Documents uint64  `json:"documents"` // that hold it
	Frequency int     `json:"frequency"` // in this one, weighted by field
	Score     float64 `json:"worth"`
}

// explain says why each of the candidates in best has its score; it reads their postings once more.
func (s *search) explain(point checkpoint) ([]*Explanation, error) {
	norms := newNorms(point)
	out := make([]*Explanation, len(s.best))
	at := make([]map[uint32]*Explanation, len(s.cols)) // by segment and document
	for i, c := range s.best {
		if at[c.segment] == nil {
			at[c.segment] = map[uint32]*Explanation{}
		}
		out[i] = &Explanation{Parts: s.allParts(c), Terms: []TermScore{}}
		at[c.segment][c.doc] = out[i]
	}
	for n, docs := range at {
		if err := s.explainSegment(n, docs, norms); err != nil {
			return nil, err
		}
	}
	for _, e := range out {
		order.By(e.Terms, func(a, b TermScore) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Term, b.Term))
		})
	}
	return out, nil
}

func (s *search) explainSegment(n int, docs map[uint32]*Explanation, norms *norms) error {
	seg := s.snap.Segments()[n]
	only := roaring.New()
	for doc := range docs {
		only.Add(doc)
	}
	if only.IsEmpty() {
		return nil
	}
	dict, err := seg.Segment().Dictionary(fieldText)
	if err != nil {
		return fmt.Errorf("index: text: %w", err)
	}
	for _, t := range s.terms {
		if t.left {
			continue
		}
		list, err := dict.PostingsList([]byte(t.text), seg.Deleted(), nil)
		if err != nil {
			return fmt.Errorf("index: postings: %w", err)
		}
		it := list.Iterator(true, true, false, nil)
		if list.Count() == 0 || !restrict(it, only) {
			continue
		}
		for p, err := it.Next(); p != nil || err != nil; p, err = it.Next() {
			if err != nil {
				return fmt.Errorf("index: postings: %w", err)
			}
			e := docs[uint32(p.Number())]
			if e == nil {
				continue
			}
			e.Terms = append(e.Terms, TermScore{t.text, t.count, int(p.Frequency()), float64(termScore(t.idf, p, norms))})
		}
	}
	return nil
}
