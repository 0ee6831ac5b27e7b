package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/order"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/index"
	"github.com/cmemd/cmemd/projections/rows"
)

const (
	// DefaultDepth and MaxDepth are how many entries a timeline shows on either side.
	DefaultDepth = 10
	MaxDepth     = 200
)

// TimelineQuery asks what happened around a moment. One of Anchor and Text is given.
type TimelineQuery struct {
	Anchor  string // an id or a prefix of one, a time (RFC 3339 or 2006-01-02), or now
	Text    string // the best hit for it is the anchor
	Project string // its root, or its shown name; empty: that of the anchor's row, or all
	Key     string // with a root in Project: what identifies it; empty: as is known of the root

	Before, After int // entries on either side; 0 means DefaultDepth, less than 0 none; at most MaxDepth
}

// Timeline is what happened around a moment, oldest first. Of an entry its first row stands there, with the others as its parts.
type Timeline struct {
	Position events.Position `json:"position"`
	At       time.Time       `json:"at"`               // the anchor's
	Anchor   *Item           `json:"anchor,omitempty"` // nil if the anchor is a time
	Before   []Item          `json:"before"`           // never nil
	After    []Item          `json:"after"`            // never nil
}

// Timeline returns the entries around an anchor across the sessions of its project. Errors: ErrBadQuery, ErrNotFound (also
// of a text that finds nothing), those of Resolve, ctx's, and of the views.
func (r *Recall) Timeline(ctx context.Context, q TimelineQuery) (Timeline, error) {
	if err := r.settle(ctx); err != nil {
		return Timeline{}, err
	}
	before, err := depth(q.Before)
	if err != nil {
		return Timeline{}, err
	}
	after, err := depth(q.After)
	if err != nil {
		return Timeline{}, err
	}
	t := Timeline{Position: r.cfg.Views.Position()}
	at, row, err := r.anchor(ctx, q)
	if err != nil {
		return Timeline{}, err
	}
	t.At = at.At
	f := firsts{r: r, known: map[rows.Entry]events.ID{}}
	if row != nil {
		items, err := r.withParts(ctx, []rows.Row{*row}, moment{})
		if err != nil {
			return Timeline{}, err
		}
		t.Anchor = &items[0]
		f.known[row.Entry()] = events.ID{} // it is there already
		if q.Project == "" {
			q.Project = projectOf(*row)
		}
	}
	older, newer, err := r.around(ctx, at, before, after, q, &f)
	if err != nil {
		return Timeline{}, err
	}
	if t.Before, err = r.withParts(ctx, older, moment{}); err != nil {
		return Timeline{}, err
	}
	t.After, err = r.withParts(ctx, newer, moment{})
	return t, err
}

// firsts knows which rows stand for their entries in a timeline: of each the first in time.
type firsts struct {
	r     *Recall
	in    func(rows.Row) bool // of the timeline's project; nil: any is. A session may move to another within its work
	known map[rows.Entry]events.ID
	err   error // the first of a reading
}

// keep reports whether a row stands for its entry.
func (f *firsts) keep(ctx context.Context, row rows.Row) bool {
	e := row.Entry()
	if _, ok := f.known[e]; !ok && f.err == nil {
		var entries [][]*rows.Row
		if entries, f.err = f.r.entriesOf(ctx, []rows.Row{row}, moment{}); f.err == nil {
			f.known[e] = f.first(entries[0], row)
		}
	}
	return f.err == nil && f.known[e] == row.ID
}

// first is the first of an entry in time, of which row is one.
func (f *firsts) first(entry []*rows.Row, row rows.Row) events.ID {
	first := &row
	for _, other := range entry {
		if (f.in == nil || f.in(*other)) && stampOf(other).compare(stampOf(first)) < 0 {
			first = other
		}
	}
	return first.ID
}

func depth(n int) (int, error) {
	switch {
	case n == 0:
		return DefaultDepth, nil
	case n < 0:
		return 0, nil
	case n > MaxDepth:
		return 0, fmt.Errorf("%w: %d rows on a side, at most %d", ErrBadQuery, n, MaxDepth)
	}
	return n, nil
}

func projectOf(row rows.Row) string {
	if row.ProjectRoot != "" {
		return row.ProjectRoot
	}
	return row.Project
}

func itemsOf(rows []rows.Row) []Item {
	items := make([]Item, len(rows))
	for i, row := range rows {
		items[i] = itemOf(row)
	}
	return items
}

// anchor finds where the timeline is. The row is nil for a time.
func (r *Recall) anchor(ctx context.Context, q TimelineQuery) (rows.Anchor, *rows.Row, error) {
	if q.Anchor == "" && strings.TrimSpace(q.Text) == "" {
		return rows.Anchor{}, nil, fmt.Errorf("%w: neither an anchor nor a text", ErrBadQuery)
	}
	if q.Anchor == "now" {
		return rows.Anchor{At: time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)}, nil, nil // after all there is
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, q.Anchor); err == nil {
			return rows.Anchor{At: t}, nil, nil
		}
	}
	id, err := r.anchorID(ctx, q)
	if err != nil {
		return rows.Anchor{}, nil, err
	}
	row, err := r.cfg.Views.Row(ctx, id)
	if errors.Is(err, engine.ErrNotFound) {
		return rows.Anchor{}, nil, fmt.Errorf("%w: %s", ErrNotFound, id)
	}
	if err != nil {
		return rows.Anchor{}, nil, fmt.Errorf("recall: %w", err)
	}
	return rows.Anchor{At: row.At, Position: row.Position}, &row, nil
}

func (r *Recall) anchorID(ctx context.Context, q TimelineQuery) (events.ID, error) {
	if q.Anchor != "" {
		return r.Resolve(ctx, q.Anchor)
	}
	found, err := r.Search(ctx, Query{Text: q.Text, Project: q.Project, Key: q.Key, Limit: 1})
	if err != nil {
		return events.ID{}, err
	}
	if len(found.Results) == 0 {
		return events.ID{}, fmt.Errorf("%w: nothing matches %q", ErrNotFound, oneLine(q.Text, 80))
	}
	return found.Results[0].ID, nil
}

// around reads the rows on both sides that stand for their entries. The views keep lists by project root; what has none is read by its name.
func (r *Recall) around(ctx context.Context, at rows.Anchor, before, after int, q TimelineQuery, f *firsts) (older, newer []rows.Row, err error) {
	roots, named := []string{""}, index.Query{}
	switch {
	case isRoot(q.Project):
		own, err := r.cfg.Views.Extent(ctx, q.Project, q.Key)
		if err != nil {
			return nil, nil, fmt.Errorf("recall: %w", err)
		}
		roots, named.Rootless = own.Roots, own.Names
		f.in = func(row rows.Row) bool {
			return slices.Contains(roots, row.ProjectRoot) || row.ProjectRoot == "" && slices.Contains(own.Names, row.Project)
		}
	case q.Project != "":
		roots, named.Project = nil, q.Project
		f.in = func(row rows.Row) bool { return row.Project == q.Project }
	}
	add := func(before, after []rows.Row, err error) error {
		older, newer = append(older, before...), append(newer, after...)
		return err
	}
	for _, root := range roots {
		if err := add(r.aroundIn(ctx, at, before, after, root, f)); err != nil {
			return nil, nil, fmt.Errorf("recall: %w", err)
		}
	}
	if named.Project != "" || len(named.Rootless) > 0 {
		if err := add(r.aroundNamed(ctx, at, before, after, named, f)); err != nil {
			return nil, nil, err
		}
	}
	order.By(older, inTime)
	order.By(newer, inTime)
	return older[max(0, len(older)-max(0, before)):], newer[:min(len(newer), max(0, after))], nil
}

// aroundIn reads the rows on both sides in one folder.
func (r *Recall) aroundIn(ctx context.Context, at rows.Anchor, before, after int, root string, f *firsts) (older, newer []rows.Row, err error) {
	keep := func(row rows.Row) bool { return f.keep(ctx, row) }
	for more := usualRows; ; more *= 4 {
		older, newer, err = r.cfg.Views.Around(ctx, at, more*before, more*after, root)
		if err != nil {
			return nil, nil, err
		}
		noneBefore, noneAfter := len(older) < more*max(1, before), len(newer) < more*max(1, after)
		older, newer = kept(older, keep), kept(newer, keep)
		if f.err != nil || (noneBefore || len(older) >= before) && (noneAfter || len(newer) >= after) {
			return older[max(0, len(older)-before):], newer[:min(len(newer), after)], f.err
		}
	}
}

// usualRows is how many rows most entries have at most.
const usualRows = 4

func kept(list []rows.Row, keep func(rows.Row) bool) (out []rows.Row) {
	for _, row := range list {
		if keep(row) {
			out = append(out, row)
		}
	}
	return out
}

// aroundNamed reads the rows on both sides of those that q finds.
func (r *Recall) aroundNamed(ctx context.Context, at rows.Anchor, before, after int, q index.Query, f *firsts) (older, newer []rows.Row, err error) {
	here := rows.Row{At: at.At, Position: at.Position}
	back, forth := q, q
	back.Sort, back.Until = index.Newest, at.At
	older, err = r.listed(ctx, back, before, func(row rows.Row) bool { return inTime(row, here) < 0 && f.keep(ctx, row) }, nil)
	if err != nil {
		return nil, nil, err
	}
	forth.Sort, forth.Since = index.Oldest, at.At
	newer, err = r.listed(ctx, forth, after, func(row rows.Row) bool { return inTime(row, here) > 0 && f.keep(ctx, row) }, nil)
	return older, newer, cmp.Or(err, f.err)
}

// inTime orders rows by when they happened.
func inTime(a, b rows.Row) int {
	return stampOf(&a).compare(stampOf(&b))
}
