package recall

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/index"
	"github.com/cmemd/cmemd/projections/rows"
)

// Search returns the entries of which rows match q, each by the row that matches best. Errors: ErrBadQuery, ctx's, those of the
// views and of the index. No result is no error, and no error is ever an empty result.
func (r *Recall) Search(ctx context.Context, q Query) (Answer, error) {
	if err := q.check(); err != nil {
		return Answer{}, err
	}
	if !q.ungrouped { // at a prompt a hook waits for it
		if err := r.settle(ctx); err != nil {
			return Answer{}, err
		}
	}
	known := r.cfg.Views.Position()
	iq, err := r.translate(ctx, q)
	if err != nil {
		return Answer{}, err
	}
	then, err := r.momentOf(ctx, q.AsOf)
	if err != nil {
		return Answer{}, fmt.Errorf("recall: %w", err)
	}
	semantic, err := r.semantic(ctx, q, iq, then)
	if err != nil {
		return Answer{}, err
	}
	l := newResultSet(r, q, iq, then, semantic)
	if err := l.fill(ctx, q.Offset+q.Limit); err != nil {
		return Answer{}, err
	}
	out := q.Nothing(min(known, l.found.Position))
	left, passed := l.left()
	out.Total, out.Passed, out.Near, out.Note = l.total(), passed, semantic.used, semantic.note
	left = left[:min(q.Limit, len(left))]
	if len(left) > 0 {
		out.Last = left[len(left)-1].row.ID
	}
	if out.Results, err = l.page(ctx, left); err != nil {
		return Answer{}, err
	}
	if l.facets != nil {
		out.Facets = l.facets
	}
	return out, nil
}

// translate puts q in the words of the index.
func (r *Recall) translate(ctx context.Context, q Query) (index.Query, error) {
	iq := index.Query{
		Text: q.Text, Project: q.Project, Session: q.Session, Agent: q.Agent, Type: q.Type, Concept: q.Concept, File: q.File,
		Since: q.Since, Until: q.Until, AsOf: q.AsOf, Most: q.most, Recency: cmp.Or(q.Recency, r.cfg.Recency), Facets: q.Facets, Explain: q.Explain,
	}
	switch q.Sort {
	case "", Relevance:
	case Newest:
		iq.Sort = index.Newest
	case Oldest:
		iq.Sort = index.Oldest
	default:
		return iq, fmt.Errorf("%w: sort %q is not %s, %s or %s", ErrBadQuery, q.Sort, Relevance, Newest, Oldest)
	}
	for _, kind := range q.Kinds {
		k, ok := indexKind(kind)
		if !ok {
			return iq, fmt.Errorf("%w: kind %q is not observation, summary, memory or prompt", ErrBadQuery, kind)
		}
		iq.Kinds = append(iq.Kinds, k)
	}
	var err error
	if iq.FileIn, err = r.fileIn(ctx, q); err != nil || !isRoot(q.Project) {
		return iq, err
	}
	own, err := r.cfg.Views.Extent(ctx, q.Project, q.Key)
	if err != nil {
		return iq, fmt.Errorf("recall: %w", err)
	}
	iq.Projects, iq.Rootless = own.Roots, own.Names
	return iq, nil
}

func indexKind(k rows.Kind) (index.Kind, bool) {
	for _, c := range []index.Kind{index.Observation, index.Summary, index.Memory, index.Prompt} {
		if c.String() == string(k) {
			return c, true
		}
	}
	return 0, false
}

// left is what of the result set a page may show: what earlier pages did not, nor what says nearly the same. Passed are the rows that
// Offset alone leaves out.
func (l *resultSet) left() (left []hit, passed []events.ID) {
	if l.q.Shown != nil {
		return l.unmarked(), nil
	}
	if at, ok := l.place[l.q.LastShown]; ok {
		return l.shown[at+1:], nil
	}
	offset := min(l.q.Offset, len(l.shown))
	for _, h := range l.shown[:offset] {
		passed = append(passed, h.row.Entry().Mark())
	}
	return l.shown[offset:], passed
}

// unmarked is what of the result set no earlier page showed, nor what says nearly the same.
func (l *resultSet) unmarked() (left []hit) {
	for _, h := range l.shown {
		if !l.q.Shown(h.row.Entry().Mark()) && !slices.ContainsFunc(h.marks, l.q.Shown) {
			left = append(left, h)
		}
	}
	return left
}

// page makes items of hits.
func (l *resultSet) page(ctx context.Context, hits []hit) ([]Item, error) {
	list := rowsOf(hits)
	if l.q.ungrouped {
		return l.items(hits, itemsOf(list)), nil
	}
	newer := newerWork(appendEach(nil, list))
	if l.q.Text != "" && l.iq.Sort == index.Relevance {
		hits = newestFirst(hits, newer)
		list = rowsOf(hits)
	}
	items := itemsOf(list)
	if !l.q.Brief {
		var err error
		if items, err = l.r.withParts(ctx, list, l.then); err != nil {
			return nil, err
		}
	}
	for i := range items {
		if row := newer[items[i].ID]; row != nil {
			items[i].Newer = row.Handle()
		}
	}
	return l.items(hits, items), nil
}

func rowsOf(hits []hit) []rows.Row {
	list := make([]rows.Row, len(hits))
	for i, h := range hits {
		list[i] = *h.row
	}
	return list
}

// newestFirst puts before each hit of a page the one of newer work on the same, if the page has one. All others stay in their order.
func newestFirst(hits []hit, newer map[events.ID]*rows.Row) []hit {
	place := make(map[events.ID]int, len(hits))
	for i, h := range hits {
		place[h.row.ID] = i
	}
	out := make([]hit, 0, len(hits))
	put := make([]bool, len(hits))
	var add func(i int)
	add = func(i int) {
		if put[i] {
			return
		}
		put[i] = true
		if later := newer[hits[i].row.ID]; later != nil {
			add(place[later.ID])
		}
		out = append(out, hits[i])
	}
	for i := range hits {
		add(i)
	}
	return out
}

// items says in items of hits how they were found.
func (l *resultSet) items(hits []hit, items []Item) []Item {
	words := wordsOf(l.q.Text)
	for i := range items {
		h, it := hits[i], &items[i]
		it.Score, it.Snippet, it.Similar = h.score, snippet(*h.row, it.Title, words), h.similar
		if h.count > 0 {
			it.Count = max(1, h.row.Count) + h.count
		}
		if l.q.Explain {
			it.Ranks = h.ranks
		}
		if h.why != nil {
			it.Explain = l.r.explain(h)
		}
	}
	return items
}
