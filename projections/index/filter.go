package index

import (
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/clip"
)

// condition narrows a segment's documents to those that hold any of the terms in the field, or meet one of several lists of
// conditions whole.
type condition struct {
	field string
	terms []string
	below bool // or a term that goes on behind one of them with a slash: what lies in that folder

	any [][]condition
}

// span narrows documents to those about a time, and recorded up to a position. Bounds are inclusive.
type span struct {
	since, until int64 // milliseconds since 1970
	asOf         events.Position
}

// conditions translates a query's filters.
func (q Query) conditions() []condition {
	var out []condition
	add := func(field string, terms ...string) {
		if c := newCondition(field, terms...); len(c.terms) > 0 {
			out = append(out, c)
		}
	}
	kinds := make([]string, len(q.Kinds))
	for i, k := range q.Kinds {
		kinds[i] = string(rune(k))
	}
	add(fieldKind, kinds...)
	add(fieldProject, slices.Concat([]string{q.Project}, rootless(q.Rootless), q.Projects)...)
	add(fieldSession, q.Session)
	add(fieldAgent, q.Agent)
	add(fieldType, q.Type)
	add(fieldConcept, strings.ToLower(strings.TrimSpace(q.Concept)))
	if file := q.fileCondition(); len(file.any) > 0 {
		out = append(out, file)
	}
	return out
}

// newCondition is that the field holds any of the terms that are not empty.
func newCondition(field string, terms ...string) condition {
	c := condition{field: field}
	for _, t := range terms {
		if t = clip.Head(t, maxTerm); t != "" {
			c.terms = append(c.terms, t)
		}
	}
	return c
}

func (q Query) span() span {
	s := span{since: math.MinInt64, until: math.MaxInt64, asOf: math.MaxUint64}
	if !q.Since.IsZero() {
		s.since = q.Since.UnixMilli()
	}
	if !q.Until.IsZero() {
		s.until = q.Until.UnixMilli()
	}
	if q.AsOf > 0 {
		s.asOf = q.AsOf
	}
	return s
}

// find returns the documents that lie in the span; nil means all of them.
func (s span) find(col *columns) *roaring.Bitmap {
	var out *roaring.Bitmap
	if s.since > math.MinInt64 || s.until < math.MaxInt64 {
		out = within(col.at, s.since, s.until)
	}
	if s.asOf < math.MaxUint64 {
		known := within(col.position, 0, s.asOf)
		if out == nil {
			return known
		}
		out.And(known)
	}
	return out
}

// allowed returns the documents of seg that pass all filters; nil means all of them.
func (s *search) allowed(seg *scorch.SegmentSnapshot, col *columns) (*roaring.Bitmap, error) {
	out := s.span.find(col)
	for _, c := range s.conds {
		b, err := c.find(seg)
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = b
			continue
		}
		out.And(b)
	}
	return out, nil
}

// find returns a bitmap of the caller's own.
func (c condition) find(seg *scorch.SegmentSnapshot) (*roaring.Bitmap, error) {
	out := roaring.New()
	for _, all := range c.any {
		found, err := findAll(seg, all)
		if err != nil {
			return nil, err
		}
		out.Or(found)
	}
	if len(c.terms) == 0 {
		return out, nil
	}
	dict, err := seg.Segment().Dictionary(c.field)
	if err != nil {
		return nil, fmt.Errorf("index: %s: %w", c.field, err)
	}
	for _, t := range c.terms {
		if err := orTerm(out, dict, []byte(t), seg.Deleted()); err != nil {
			return nil, err
		}
		if !c.below {
			continue
		}
		if err := orBelow(out, dict, t, seg.Deleted()); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// findAll returns the documents that meet all of some conditions, of which there must be one.
func findAll(seg *scorch.SegmentSnapshot, all []condition) (*roaring.Bitmap, error) {
	out, err := all[0].find(seg)
	for _, c := range all[1:] {
		if err != nil || out.IsEmpty() {
			break
		}
		var more *roaring.Bitmap
		if more, err = c.find(seg); err == nil {
			out.And(more)
		}
	}
	return out, err
}

// orBelow adds the documents with a term that begins with a folder and a slash to out; with any relative path, if the folder is
// a dot.
func orBelow(out *roaring.Bitmap, dict segment.TermDictionary, folder string, except *roaring.Bitmap) error {
	from, to := []byte(folder+"/"), []byte(folder+"0") // 0 is what follows the slash
	if folder == "." {
		from, to = nil, nil
	}
	for it := dict.AutomatonIterator(nil, from, to); ; {
		entry, err := it.Next()
		if err != nil {
			return fmt.Errorf("index: terms below a folder: %w", err)
		}
		if entry == nil {
			return nil
		}
		if folder == "." && !isRelative(entry.Term) {
			continue
		}
		if err := orTerm(out, dict, []byte(entry.Term), except); err != nil {
			return err
		}
	}
}

// orTerm adds the documents with a term to out.
func orTerm(out *roaring.Bitmap, dict segment.TermDictionary, term []byte, except *roaring.Bitmap) error {
	list, err := dict.PostingsList(term, except, nil)
	if err != nil {
		return fmt.Errorf("index: postings: %w", err)
	}
	if list.Count() == 0 {
		return nil
	}
	it, ok := list.Iterator(false, false, false, nil).(segment.OptimizablePostingsIterator)
	if !ok {
		return fmt.Errorf("%w: postings without a bitmap", errDamaged)
	}
	if doc, ok := it.DocNum1Hit(); ok {
		out.Add(uint32(doc))
		return nil
	}
	if bm := it.ActualBitmap(); bm != nil {
		out.Or(bm)
	}
	return nil
}

// refOf reads the name of a document.
func refOf(seg *scorch.SegmentSnapshot, doc uint64) (ref, error) {
	b, err := seg.DocID(doc)
	if err != nil {
		return ref{}, fmt.Errorf("index: name of document %d: %w", doc, err)
	}
	r, ok := decodeRef(b)
	if !ok {
		return ref{}, fmt.Errorf("%w: document named %x", errDamaged, b)
	}
	return r, nil
}

// namesOf returns the names of the documents with the given ids or positions.
func (s *store) namesOf(snap *scorch.IndexSnapshot, ids []events.ID, positions []events.Position) (names []string, err error) {
	defer guard(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	cols, _, err := s.columns.of(snap)
	if err != nil {
		return nil, err
	}
	wanted := make(map[events.Position]bool, len(positions))
	for _, p := range positions {
		wanted[p] = true
	}
	for n, seg := range snap.Segments() {
		for doc, p := range cols[n].position {
			if !wanted[p] || seg.Deleted() != nil && seg.Deleted().Contains(uint32(doc)) {
				continue
			}
			r, err := refOf(seg, uint64(doc))
			if err != nil {
				return nil, err
			}
			names = append(names, r.encode())
		}
	}
	for _, id := range ids {
		more, err := namesWith(snap, id)
		if err != nil {
			return nil, err
		}
		names = append(names, more...)
	}
	return names, nil
}

// namesWith returns the names that begin with id.
func namesWith(snap *scorch.IndexSnapshot, id events.ID) ([]string, error) {
	dict, err := snap.FieldDictPrefix(fieldID, id[:])
	if err != nil {
		return nil, fmt.Errorf("index: names: %w", err)
	}
	defer dict.Close()
	var names []string
	for {
		entry, err := dict.Next()
		if err != nil {
			return nil, fmt.Errorf("index: names: %w", err)
		}
		if entry == nil {
			return names, nil
		}
		names = append(names, entry.Term)
	}
}
