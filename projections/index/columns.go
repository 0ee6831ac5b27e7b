package index

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/cmemd/cmemd/events"
)

// columns is what filters and ranking need of every document of one segment, by document number. It is read from the
// documents' names when a search first meets the segment, about 200 ns a document, and kept while the segment is in use:
// 33 bytes a document.
type columns struct {
	at       []int64 // milliseconds since 1970
	position []events.Position
	kind     []Kind
	session  []uint32 // number of the document's session; 0: none
	order    []uint32 // documents by session, then time
	place    []uint32 // where each document is in order

	facets map[string]*facetColumn // by field; guarded by the columnCache
	newest []uint32                // documents by position, the last first; nil: not asked for yet; guarded by the columnCache
}

// next returns the document that comes step places after doc in its session.
func (c *columns) next(doc uint32, step int) (uint32, bool) {
	i := int(c.place[doc]) + step
	if i < 0 || i >= len(c.order) || c.session[c.order[i]] != c.session[doc] {
		return 0, false
	}
	return c.order[i], true
}

// within returns the documents whose value lies in [low, high].
func within[T cmp.Ordered](values []T, low, high T) *roaring.Bitmap {
	out := roaring.New()
	for doc, v := range values {
		if low <= v && v <= high {
			out.Add(uint32(doc))
		}
	}
	return out
}

// columnCache keeps the columns of a store's segments, which never change, by the segments' ids.
type columnCache struct {
	mu             sync.Mutex // guards the fields below; held while a segment is read
	bySegment      map[uint64]*columns
	sessionNumbers map[events.SessionID]uint32
	measured       []uint64  // the segments that penalties are of
	penalties      []float32 // see sizePenalties; never changed, but replaced
}

// of returns the columns of every segment of snap, and by how much each session's score is lowered for its size.
func (c *columnCache) of(snap *scorch.IndexSnapshot) ([]*columns, []float32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bySegment == nil {
		c.bySegment, c.sessionNumbers = map[uint64]*columns{}, map[events.SessionID]uint32{{}: 0}
	}
	segs := snap.Segments()
	out := make([]*columns, len(segs))
	for n, seg := range segs {
		col := c.bySegment[seg.Id()]
		if col == nil {
			var err error
			if col, err = c.read(seg); err != nil {
				return nil, nil, err
			}
			c.bySegment[seg.Id()] = col
		}
		out[n] = col
	}
	c.drop(segs)
	return out, c.sizePenalties(segs, out), nil
}

// sizeShare is how much of a session's score its size takes: a long one holds every word somewhere.
const sizeShare = 0.5

// sizePenalties returns for each session, by number, what its score is divided by: 1 for one of the average size, more the
// longer it is.
func (c *columnCache) sizePenalties(segs []*scorch.SegmentSnapshot, cols []*columns) []float32 {
	ids := make([]uint64, len(segs))
	for n, seg := range segs {
		ids[n] = seg.Id()
	}
	if c.penalties != nil && slices.Equal(ids, c.measured) {
		return c.penalties
	}
	sizes, total := make([]float32, len(c.sessionNumbers)), 0
	for _, col := range cols {
		for _, g := range col.session {
			sizes[g]++
		}
		total += len(col.session)
	}
	average := float64(total-int(sizes[0])) / float64(max(1, len(sizes)-1))
	for g, n := range sizes {
		sizes[g] = float32(1 - sizeShare + sizeShare*math.Sqrt(float64(n)/max(1, average)))
	}
	c.measured, c.penalties = ids, sizes
	return sizes
}

// drop forgets segments that were merged away; a search that still holds them reads them anew, at worst.
func (c *columnCache) drop(segs []*scorch.SegmentSnapshot) {
	if len(c.bySegment) <= 2*len(segs)+8 {
		return
	}
	for id := range c.bySegment {
		if !slices.ContainsFunc(segs, func(s *scorch.SegmentSnapshot) bool { return s.Id() == id }) {
			delete(c.bySegment, id)
		}
	}
}

func (c *columnCache) read(seg *scorch.SegmentSnapshot) (*columns, error) {
	n := int(seg.FullSize())
	col := &columns{
		at: make([]int64, n), position: make([]events.Position, n), kind: make([]Kind, n),
		session: make([]uint32, n), order: make([]uint32, n), place: make([]uint32, n),
	}
	for doc := range n {
		r, err := refOf(seg, uint64(doc))
		if err != nil {
			return nil, err
		}
		g, ok := c.sessionNumbers[r.group]
		if !ok {
			g = uint32(len(c.sessionNumbers))
			c.sessionNumbers[r.group] = g
		}
		col.at[doc], col.position[doc], col.kind[doc], col.session[doc] = r.at.UnixMilli(), r.position, r.kind, g
		col.order[doc] = uint32(doc)
	}
	slices.SortFunc(col.order, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(col.session[a], col.session[b]), cmp.Compare(col.at[a], col.at[b]), cmp.Compare(col.position[a], col.position[b]))
	})
	for i, doc := range col.order {
		col.place[doc] = uint32(i)
	}
	return col, nil
}
