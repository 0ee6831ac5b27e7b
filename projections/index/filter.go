package index

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	"github.com/cmemd/cmemd/events"
)

// condition narrows a segment's documents to those that hold any of the terms in the field.
type condition struct {
	field string
	terms []string
}

// span narrows a segment's documents to those whose value, read from their name, lies in [low, high]. Values are
// found by the terms of their buckets; only the buckets at both ends are looked at document by document.
type span struct {
	field     string
	low, high int64
	bucket    func(int64) []byte
	value     func(ref) int64
}

// conditions translates a query's filters.
func (q Query) conditions() []condition {
	var out []condition
	add := func(field string, terms ...string) {
		for i := range terms {
			terms[i] = cut(terms[i], maxTerm)
		}
		if len(terms) > 0 && terms[0] != "" {
			out = append(out, condition{field, terms})
		}
	}
	kinds := make([]string, len(q.Kinds))
	for i, k := range q.Kinds {
		kinds[i] = string(rune(k))
	}
	add(fieldKind, kinds...)
	add(fieldProject, q.Project)
	add(fieldSession, q.Session)
	add(fieldAgent, q.Agent)
	add(fieldType, q.Type)
	add(fieldConcept, strings.ToLower(strings.TrimSpace(q.Concept)))
	add(fieldFile, fileTerm(q.File))
	return out
}

func (q Query) spans() []span {
	var out []span
	if !q.Since.IsZero() || !q.Until.IsZero() {
		s := span{
			field: fieldDay, low: math.MinInt32 * day.Milliseconds(), high: math.MaxInt32 * day.Milliseconds(),
			bucket: func(v int64) []byte { return dayKey(v) },
			value:  func(r ref) int64 { return r.at.UnixMilli() },
		}
		if !q.Since.IsZero() {
			s.low = q.Since.UnixMilli()
		}
		if !q.Until.IsZero() {
			s.high = q.Until.UnixMilli()
		}
		out = append(out, s)
	}
	if q.AsOf > 0 {
		out = append(out, span{
			field: fieldBlock, low: 0, high: int64(min(q.AsOf, math.MaxInt64)),
			bucket: func(v int64) []byte { return blockKey(events.Position(v)) },
			value:  func(r ref) int64 { return int64(r.position) },
		})
	}
	return out
}

// allowed returns the documents of seg that pass all filters; nil means all of them.
func allowed(seg *scorch.SegmentSnapshot, conds []condition, spans []span) (*roaring.Bitmap, error) {
	var out *roaring.Bitmap
	narrow := func(b *roaring.Bitmap) {
		if out == nil {
			out = b
			return
		}
		out.And(b)
	}
	for _, c := range conds {
		b, err := c.find(seg)
		if err != nil {
			return nil, err
		}
		narrow(b)
	}
	for _, s := range spans {
		b, err := s.find(seg)
		if err != nil {
			return nil, err
		}
		narrow(b)
	}
	return out, nil
}

// find returns a bitmap of the caller's own.
func (c condition) find(seg *scorch.SegmentSnapshot) (*roaring.Bitmap, error) {
	dict, err := seg.Segment().Dictionary(c.field)
	if err != nil {
		return nil, fmt.Errorf("index: %s: %w", c.field, err)
	}
	out := roaring.New()
	for _, t := range c.terms {
		if err := orTerm(out, dict, []byte(t), seg.Deleted()); err != nil {
			return nil, err
		}
	}
	return out, nil
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

func (s span) find(seg *scorch.SegmentSnapshot) (*roaring.Bitmap, error) {
	out := roaring.New()
	if s.low > s.high {
		return out, nil
	}
	dict, err := seg.Segment().Dictionary(s.field)
	if err != nil {
		return nil, fmt.Errorf("index: %s: %w", s.field, err)
	}
	first, last := s.bucket(s.low), s.bucket(s.high)
	terms := dict.AutomatonIterator(nil, first, append(last[:len(last):len(last)], 0))
	for {
		entry, err := terms.Next()
		if err != nil {
			return nil, fmt.Errorf("index: %s: %w", s.field, err)
		}
		if entry == nil {
			return out, nil
		}
		if entry.Term != string(first) && entry.Term != string(last) {
			if err := orTerm(out, dict, []byte(entry.Term), seg.Deleted()); err != nil {
				return nil, err
			}
			continue
		}
		if err := s.edge(out, seg, dict, []byte(entry.Term)); err != nil {
			return nil, err
		}
	}
}

// edge adds the documents of one bucket whose value lies in the span.
func (s span) edge(out *roaring.Bitmap, seg *scorch.SegmentSnapshot, dict segment.TermDictionary, term []byte) error {
	bucket := roaring.New()
	if err := orTerm(bucket, dict, term, seg.Deleted()); err != nil {
		return err
	}
	for it := bucket.Iterator(); it.HasNext(); {
		doc := it.Next()
		r, err := refOf(seg, uint64(doc))
		if err != nil {
			return err
		}
		if v := s.value(r); s.low <= v && v <= s.high {
			out.Add(doc)
		}
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
func namesOf(snap *scorch.IndexSnapshot, ids []events.ID, positions []events.Position) ([]string, error) {
	wanted := make(map[events.Position]bool, len(positions))
	blocks := map[string]bool{}
	for _, p := range positions {
		wanted[p] = true
		blocks[string(blockKey(p))] = true
	}
	var names []string
	for _, seg := range snap.Segments() {
		found := roaring.New()
		dict, err := seg.Segment().Dictionary(fieldBlock)
		if err != nil {
			return nil, fmt.Errorf("index: %s: %w", fieldBlock, err)
		}
		for b := range blocks {
			if err := orTerm(found, dict, []byte(b), seg.Deleted()); err != nil {
				return nil, err
			}
		}
		for it := found.Iterator(); it.HasNext(); {
			r, err := refOf(seg, uint64(it.Next()))
			if err != nil {
				return nil, err
			}
			if wanted[r.position] {
				names = append(names, r.encode())
			}
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

// dayKey is the term of fieldDay for a time in milliseconds since 1970; terms sort as times do.
func dayKey(ms int64) []byte {
	days := ms / day.Milliseconds()
	if ms%day.Milliseconds() < 0 {
		days--
	}
	return binary.BigEndian.AppendUint32(nil, uint32(int32(days))^1<<31)
}

// blockKey is the term of fieldBlock for a position.
func blockKey(p events.Position) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(p)/blockSize)
}
