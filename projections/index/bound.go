package index

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	segment "github.com/blevesearch/scorch_segment_api/v2"
)

// fewTerms is how many of a bounded search's words are looked for even though they are not rare: by one word alone
// nothing can be told from anything.
const fewTerms = 3

// bound leaves of the terms' postings the rarest terms', most documents together. Where these are fewer than fewTerms, the
// next ones share what room there is, each with its newest documents. The other terms are left out.
func (s *search) bound(lists [][]postings) error {
	held, order := make([]int, len(s.terms)), []int{}
	for i, t := range s.terms {
		if t.left {
			continue
		}
		for n := range lists[i] {
			docs, err := s.passingOf(lists[i][n])
			if err != nil {
				return err
			}
			lists[i][n].only = docs
			held[i] += int(docs.GetCardinality())
		}
		if order = append(order, i); held[i] == 0 {
			lists[i] = nil
		}
	}
	order = slices.DeleteFunc(order, func(i int) bool { return held[i] == 0 })
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(held[a], held[b]) })
	room, whole := s.most, 0
	for whole < len(order) && held[order[whole]] <= room {
		room -= held[order[whole]]
		whole++
	}
	rest := order[whole:]
	part := min(max(0, fewTerms-whole), len(rest))
	for _, i := range rest[:part] {
		lists[i] = s.newestOf(lists[i], room/part)
	}
	for _, i := range rest[part:] {
		s.terms[i].left = true
	}
	return nil
}

// passingOf returns the documents of p that pass the filters; the set is the caller's.
func (s *search) passingOf(p postings) (*roaring.Bitmap, error) {
	it, ok := p.list.Iterator(false, false, false, nil).(segment.OptimizablePostingsIterator)
	if !ok {
		return nil, fmt.Errorf("%w: postings without a bitmap", errDamaged)
	}
	allow := s.allow[p.segment]
	if doc, ok := it.DocNum1Hit(); ok {
		docs := roaring.New()
		if allow == nil || allow.Contains(uint32(doc)) {
			docs.Add(uint32(doc))
		}
		return docs, nil
	}
	actual := it.ActualBitmap()
	switch {
	case actual == nil:
		return roaring.New(), nil
	case allow == nil:
		return actual.Clone(), nil
	}
	return roaring.And(actual, allow), nil
}

// skipsPerHit is how many documents without a word are passed over for each of the newest with it.
const skipsPerHit = 20

// newestOf leaves about the newest of the documents, at most so many: segment after segment, the one with the newest first.
func (s *search) newestOf(list []postings, most int) []postings {
	newest := make(map[int][]uint32, len(list))
	for _, p := range list {
		newest[p.segment] = s.cache.newestOf(s.cols[p.segment])
	}
	slices.SortFunc(list, func(a, b postings) int {
		return cmp.Compare(s.cols[b.segment].position[newest[b.segment][0]], s.cols[a.segment].position[newest[a.segment][0]])
	})
	look := most * skipsPerHit
	for n := range list {
		p := &list[n]
		kept := roaring.New()
		for _, doc := range newest[p.segment] {
			if most == 0 || look == 0 {
				break
			}
			look--
			if p.only.Contains(doc) {
				kept.Add(doc)
				most--
			}
		}
		p.only = kept
	}
	return slices.DeleteFunc(list, func(p postings) bool { return p.only.IsEmpty() })
}

// newestOf returns a segment's documents by position, the last first, and keeps them with its columns.
func (c *columnCache) newestOf(col *columns) []uint32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if col.newest == nil {
		col.newest = make([]uint32, len(col.position))
		for doc := range col.newest {
			col.newest[doc] = uint32(doc)
		}
		slices.SortFunc(col.newest, func(a, b uint32) int { return cmp.Compare(col.position[b], col.position[a]) })
	}
	return col.newest
}
