package index

import (
	"context"
	"runtime/debug"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/cmemd/cmemd/events"
)

// Matching returns the positions of the documents that pass q's filters, whatever its text, in order; nil, not merely empty,
// if q has no filter. It is for lists that are found by other means than words. The errors are those of Search.
func (x *Index) Matching(ctx context.Context, q Query) ([]events.Position, error) {
	q.Text = ""
	if len(q.conditions()) == 0 && q.span() == (Query{}).span() {
		return nil, nil
	}
	return ask(ctx, x, rebuildWait, func(s *store) ([]events.Position, error) { return s.matching(ctx, x.analyzer, &x.scratches, q) })
}

func (s *store) matching(ctx context.Context, a *analyzer, pool *scratches, q Query) (found []events.Position, err error) {
	defer guard(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	snap, err := s.snapshot()
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	run, err := s.prepare(ctx, snap, a, pool, q)
	if err != nil {
		return nil, err
	}
	defer pool.put(run)
	found = []events.Position{}
	for n, seg := range snap.Segments() {
		found = appendPositions(found, run.cols[n], run.allow[n], seg.Deleted())
	}
	slices.Sort(found)
	return found, nil
}

// appendPositions adds the positions of a segment's documents that are allowed and not deleted.
func appendPositions(found []events.Position, col *columns, allow, deleted *roaring.Bitmap) []events.Position {
	for doc, p := range col.position {
		if (allow == nil || allow.Contains(uint32(doc))) && (deleted == nil || !deleted.Contains(uint32(doc))) {
			found = append(found, p)
		}
	}
	return found
}
