package index

import (
	"context"
	"errors"
	"runtime/debug"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
)

// Rootless counts the documents without a project's root by the name that they have of one, the most frequent first. It is safe for
// concurrent use. Errors are those of Search, without waiting.
func (x *Index) Rootless(ctx context.Context) ([]Count, error) {
	counts, err := ask(ctx, x, 0, func(s *store) (map[string]int, error) { return s.rootless(ctx) })
	return mostFirst(counts), err
}

func (s *store) rootless(ctx context.Context) (counts map[string]int, err error) {
	defer guard(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	snap, err := s.snapshot()
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	counts = map[string]int{}
	for _, seg := range snap.Segments() {
		if err := errors.Join(ctx.Err(), countRootless(seg, counts)); err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// countRootless adds up what stands in one segment.
func countRootless(seg *scorch.SegmentSnapshot, counts map[string]int) error {
	dict, err := seg.Segment().Dictionary(fieldProject)
	if err != nil {
		return err
	}
	for it := dict.AutomatonIterator(nil, []byte(rootlessMark), []byte("\x01")); ; {
		entry, err := it.Next()
		if err != nil || entry == nil {
			return err
		}
		found := roaring.New()
		if err := orTerm(found, dict, []byte(entry.Term), seg.Deleted()); err != nil {
			return err
		}
		if n := found.GetCardinality(); n > 0 {
			counts[strings.TrimPrefix(strings.Clone(entry.Term), rootlessMark)] += int(n)
		}
	}
}
