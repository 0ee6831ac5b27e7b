package index

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
)

// Facets says how the documents that match are spread: every value that any of them has, for files and concepts the
// most frequent ones, with how many have it. They are sorted by count, months by time, the newest first.
type Facets struct {
	Project []Count `json:"project"` // shown names
	Type    []Count `json:"type"`
	Concept []Count `json:"concept"`
	File    []Count `json:"file"`
	Month   []Count `json:"month"` // 2026-01, in UTC
}

// Count is how many of the documents that match have a value.
type Count struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

// maxFacet is how many values of one facet are returned.
const maxFacet = 50

// facetColumn holds the terms of one field of one segment by document.
type facetColumn struct {
	terms    []string
	offsets  []uint32 // by document: where its terms begin in of; one more for the end
	ordinals []uint32 // numbers of terms, document after document
}

// termsOf returns the numbers of a document's terms.
func (f *facetColumn) termsOf(doc uint32) []uint32 {
	return f.ordinals[f.offsets[doc]:f.offsets[doc+1]]
}

// newFacetColumn turns lists of documents by term into lists of terms by document.
func newFacetColumn(docs int, terms []string, lists []*roaring.Bitmap) *facetColumn {
	f := &facetColumn{terms: terms, offsets: make([]uint32, docs+1)}
	for _, list := range lists {
		for it := list.Iterator(); it.HasNext(); {
			f.offsets[it.Next()+1]++
		}
	}
	for doc := range docs {
		f.offsets[doc+1] += f.offsets[doc]
	}
	f.ordinals = make([]uint32, f.offsets[docs])
	next := slices.Clone(f.offsets)
	for term, list := range lists {
		for it := list.Iterator(); it.HasNext(); {
			doc := it.Next()
			f.ordinals[next[doc]] = uint32(term)
			next[doc]++
		}
	}
	return f
}

// facetOf returns the column of a field, and keeps it with the segment's other columns.
func (c *columnCache) facetOf(seg *scorch.SegmentSnapshot, col *columns, field string) (*facetColumn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := col.facets[field]; f != nil {
		return f, nil
	}
	f, err := readFacet(seg, field)
	if err != nil {
		return nil, err
	}
	if col.facets == nil {
		col.facets = map[string]*facetColumn{}
	}
	col.facets[field] = f
	return f, nil
}

func readFacet(seg *scorch.SegmentSnapshot, field string) (*facetColumn, error) {
	dict, err := seg.Segment().Dictionary(field)
	if err != nil {
		return nil, fmt.Errorf("index: %s: %w", field, err)
	}
	var terms []string
	var lists []*roaring.Bitmap
	for it := dict.AutomatonIterator(nil, nil, nil); ; {
		entry, err := it.Next()
		if err != nil {
			return nil, fmt.Errorf("index: %s: %w", field, err)
		}
		if entry == nil {
			return newFacetColumn(int(seg.FullSize()), terms, lists), nil
		}
		if field == fieldProject && (isRootTerm(entry.Term) || strings.HasPrefix(entry.Term, rootlessMark)) {
			continue
		}
		term := strings.Clone(entry.Term)
		found := roaring.New()
		if err := orTerm(found, dict, []byte(term), nil); err != nil {
			return nil, err
		}
		terms, lists = append(terms, term), append(lists, found)
	}
}

// facets counts the values of the documents that match.
func (s *search) facets(cache *columnCache) (*Facets, error) {
	out := &Facets{}
	for _, f := range []struct {
		field string
		to    *[]Count
	}{{fieldProject, &out.Project}, {fieldType, &out.Type}, {fieldConcept, &out.Concept}, {fieldPath, &out.File}} {
		counts, err := s.countField(cache, f.field)
		if err != nil {
			return nil, err
		}
		*f.to = mostFirst(counts)
	}
	months := map[string]int{}
	for n, col := range s.cols {
		for doc := range s.counted(n) {
			months[time.UnixMilli(col.at[doc]).UTC().Format("2006-01")]++
		}
	}
	out.Month = inOrder(months, func(a, b Count) int { return cmp.Compare(b.Value, a.Value) })
	return out, nil
}

func (s *search) countField(cache *columnCache, field string) (map[string]int, error) {
	counts := map[string]int{}
	for n, seg := range s.snap.Segments() {
		f, err := cache.facetOf(seg, s.cols[n], field)
		if err != nil {
			return nil, err
		}
		own := make([]int, len(f.terms))
		for doc := range s.counted(n) {
			for _, t := range f.termsOf(doc) {
				own[t]++
			}
		}
		for t, count := range own {
			if count > 0 {
				counts[f.terms[t]] += count
			}
		}
	}
	return counts, nil
}

// mostFirst lists counts by how many, the first maxFacet of them. It is never nil.
func mostFirst(counts map[string]int) []Count {
	return inOrder(counts, func(a, b Count) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value)) })
}

// inOrder lists counts in an order, the first maxFacet of them. It is never nil.
func inOrder(counts map[string]int, order func(a, b Count) int) []Count {
	out := make([]Count, 0, len(counts))
	for value, count := range counts {
		out = append(out, Count{value, count})
	}
	slices.SortFunc(out, order)
	return out[:min(len(out), maxFacet)]
}
