package recall

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections"
)

const (
	// DefaultDepth and MaxDepth are how many rows a timeline shows on either side.
	DefaultDepth = 10
	MaxDepth     = 200
)

// TimelineQuery asks what happened around a moment. One of Anchor and Text is given.
type TimelineQuery struct {
	Anchor  string // an id or a prefix of one, a time (RFC 3339 or 2006-01-02), or now
	Text    string // the best hit for it is the anchor
	Project string // root or shown name; empty: that of the anchor's row, or all
	Kind    projections.Kind

	Before, After int // rows on either side; 0 means DefaultDepth, less than 0 none; at most MaxDepth
}

// Timeline is what happened around a moment, oldest first.
type Timeline struct {
	Position events.Position `json:"position"`
	At       time.Time       `json:"at"`               // the anchor's
	Anchor   *Item           `json:"anchor,omitempty"` // nil if the anchor is a time
	Older    []Item          `json:"older"`            // never nil
	Newer    []Item          `json:"newer"`            // never nil
}

// Timeline returns the rows around an anchor across the sessions of its project. Errors: ErrBadQuery, ErrNotFound (also
// of a text that finds nothing), those of Resolve, ctx's, and of the views.
func (r *Recall) Timeline(ctx context.Context, q TimelineQuery) (Timeline, error) {
	before, err := depth(q.Before)
	if err != nil {
		return Timeline{}, err
	}
	after, err := depth(q.After)
	if err != nil {
		return Timeline{}, err
	}
	t := Timeline{Position: r.views.Position()}
	at, row, err := r.anchor(ctx, q)
	if err != nil {
		return Timeline{}, err
	}
	t.At = at.At
	if row != nil {
		it := itemOf(*row)
		t.Anchor = &it
		if q.Project == "" {
			q.Project = projectOf(*row)
		}
	}
	older, newer, err := r.around(ctx, at, before, after, q)
	t.Older, t.Newer = itemsOf(older), itemsOf(newer)
	return t, err
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

func projectOf(row projections.Row) string {
	if row.ProjectRoot != "" {
		return row.ProjectRoot
	}
	return row.Project
}

func itemsOf(rows []projections.Row) []Item {
	items := make([]Item, len(rows))
	for i, row := range rows {
		items[i] = itemOf(row)
	}
	return items
}

// anchor finds where the timeline is. The row is nil for a time.
func (r *Recall) anchor(ctx context.Context, q TimelineQuery) (projections.Anchor, *projections.Row, error) {
	if q.Anchor == "" && strings.TrimSpace(q.Text) == "" {
		return projections.Anchor{}, nil, fmt.Errorf("%w: neither an anchor nor a text", ErrBadQuery)
	}
	if q.Anchor == "now" {
		return projections.Anchor{At: time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)}, nil, nil // after all there is
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, q.Anchor); err == nil {
			return projections.Anchor{At: t}, nil, nil
		}
	}
	id, err := r.anchorID(ctx, q)
	if err != nil {
		return projections.Anchor{}, nil, err
	}
	row, err := r.views.Row(ctx, id)
	if errors.Is(err, projections.ErrNotFound) {
		return projections.Anchor{}, nil, fmt.Errorf("%w: %s", ErrNotFound, id)
	}
	if err != nil {
		return projections.Anchor{}, nil, fmt.Errorf("recall: %w", err)
	}
	return projections.Anchor{At: row.At, Position: row.Position}, &row, nil
}

func (r *Recall) anchorID(ctx context.Context, q TimelineQuery) (events.ID, error) {
	if q.Anchor != "" {
		return r.Resolve(ctx, q.Anchor)
	}
	ask := Query{Text: q.Text, Project: q.Project, Limit: 1}
	if q.Kind != "" {
		ask.Kinds = []projections.Kind{q.Kind}
	}
	found, err := r.Search(ctx, ask)
	if err != nil {
		return events.ID{}, err
	}
	if len(found.Results) == 0 {
		return events.ID{}, fmt.Errorf("%w: nothing matches %q", ErrNotFound, oneLine(q.Text, 80))
	}
	return found.Results[0].ID, nil
}

// around reads the rows on both sides. The views keep lists by project root; of a project that is only named, the rows
// are picked from the list of all, of which no more than some are looked at.
func (r *Recall) around(ctx context.Context, at projections.Anchor, before, after int, q TimelineQuery) (older, newer []projections.Row, err error) {
	var kinds []projections.Kind
	if q.Kind != "" {
		if _, ok := indexKind(q.Kind); !ok {
			return nil, nil, fmt.Errorf("%w: kind %q", ErrBadQuery, q.Kind)
		}
		kinds = append(kinds, q.Kind)
	}
	root, named := q.Project, q.Project != "" && !strings.ContainsAny(q.Project, `/\`)
	askBefore, askAfter := before, after
	if named {
		root, askBefore, askAfter = "", before*namedFactor, after*namedFactor
	}
	older, newer, err = r.views.Around(ctx, at, askBefore, askAfter, root, kinds...)
	if err != nil {
		return nil, nil, fmt.Errorf("recall: %w", err)
	}
	if named {
		older, newer = pick(older, q.Project), pick(newer, q.Project)
		older, newer = older[max(0, len(older)-before):], newer[:min(len(newer), after)]
	}
	return older, newer, nil
}

// namedFactor is how many rows of all projects are looked at for one of a project that is only named.
const namedFactor = 10

func pick(rows []projections.Row, project string) []projections.Row {
	var out []projections.Row
	for _, row := range rows {
		if row.Project == project {
			out = append(out, row)
		}
	}
	return out
}
