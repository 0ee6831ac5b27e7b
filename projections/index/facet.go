package index

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
)

// Facets says how the documents that match are spread: every value that any of them has, for files and concepts the
// most frequent ones, with how many have it. They are sorted by count, months by time, the newest first.
type Facets struct {
	Project []Count // shown names
	Type    []Count
	Concept []Count
	File    []Count
	Month   []Count // 2026-01, in UTC
}

// Count is how many of the documents that match have a value.
type Count struct {
	Value string
	Count int
}

// maxFacet is how many values of one facet are returned.
const maxFacet = 50

// facetColumn holds the terms of one field of one segment by document.
type facetColumn struct {
	terms []string
	docs  [][]uint32 // by document: numbers of its terms; read when facets are first asked for
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
	f := &facetColumn{docs: make([][]uint32, seg.FullSize())}
	for it := dict.AutomatonIterator(nil, nil, nil); ; {
		entry, err := it.Next()
		if err != nil {
			return nil, fmt.Errorf("index: %s: %w", field, err)
		}
		if entry == nil {
			return f, nil
		}
		if field == fieldProject && (strings.Contains(entry.Term, `\`) || path.IsAbs(entry.Term)) {
			continue // a root; its shown name is a term too
		}
		term := strings.Clone(entry.Term)
		found := roaring.New()
		if err := orTerm(found, dict, []byte(term), nil); err != nil {
			return nil, err
		}
		for it := found.Iterator(); it.HasNext(); {
			doc := it.Next()
			f.docs[doc] = append(f.docs[doc], uint32(len(f.terms)))
		}
		f.terms = append(f.terms, term)
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
		*f.to = inOrder(counts, func(a, b Count) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value)) })
	}
	months := map[string]int{}
	for n, col := range s.cols {
		for doc := range s.matched(n) {
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
		for doc := range s.matched(n) {
			for _, t := range f.docs[doc] {
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

// inOrder lists counts in an order, the first maxFacet of them. It is never nil.
func inOrder(counts map[string]int, order func(a, b Count) int) []Count {
	out := make([]Count, 0, len(counts))
	for value, count := range counts {
		out = append(out, Count{value, count})
	}
	slices.SortFunc(out, order)
	return out[:min(len(out), maxFacet)]
}
