package server

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/recall"
	"github.com/cmemd/cmemd/projections/rows"
)

// searches answers with rows, found by words, by place in time, or by id.
type searches struct{ *sources }

func (s *searches) routes(to *dispatcher) []endpoint {
	return []endpoint{
		bind(to, api.SearchRoute, s.getSearch),
		bind(to, api.ListRoute, s.getRows),
		bind(to, api.TimelineRoute, s.getTimeline),
		bind(to, api.RowRoute, s.getRow),
		bind(to, api.ObservationsRoute, func(ctx context.Context, q api.RowsQuery) (api.Rows, error) { return s.rows(ctx, q.IDs) }),
		bind(to, api.RowsRoute, s.postRows),
		bind(to, api.RowsAliasRoute, s.postRows),
		bind(to, api.InputsRoute, s.getInputs),
	}
}

func (s *searches) getSearch(ctx context.Context, asked api.SearchQuery) (found api.SearchResults, err error) {
	q := recall.Query{
		Text: asked.Text, Type: asked.Type, Concept: asked.Concept, File: asked.File, FileIn: s.fileOf(ctx, asked.File), Agent: asked.Agent,
		Since: asked.Since, Until: asked.Until, Sort: recall.Sort(asked.Sort), Recency: recencyOf(asked.Recency),
		Facets: asked.Facets, Brief: asked.Brief, Explain: asked.Explain, Near: true, Limit: asked.Limit, Offset: asked.Offset,
	}
	q.Kinds = kindsOf(asked.Kind)
	q.Project, q.Key = s.filterOf(ctx, asked.Project)
	if q.Session, err = s.sessionTerm(ctx, asked.Session); err != nil {
		return found, err
	}
	if c := asked.Cursor; !c.IsZero() {
		asked.AsOf, q.LastShown, q.Offset, q.Shown = api.Moment{Position: c.AsOf}, c.Row, c.Passed, c.Marked()
	}
	answer := q.Nothing(s.watermark.Position())
	var known bool
	if q.AsOf, known, err = s.asOf(ctx, asked.AsOf); err == nil && known {
		answer, err = s.Recall.Search(ctx, q)
	}
	answer.Results = list(answer.Results)
	return api.SearchResults{Answer: answer, NextCursor: api.SearchRoute.PageAfter(asked, afterResults(asked.Cursor, q, answer))}, err
}

// kindsOf are the kinds of a list with commas.
func kindsOf(text string) (kinds []rows.Kind) {
	for kind := range strings.SplitSeq(text, ",") {
		if kind = strings.TrimSpace(kind); kind != "" {
			kinds = append(kinds, rows.Kind(kind))
		}
	}
	return kinds
}

const (
	maxLooked  = 20_000  // rows that are looked at for one page of a list: a fifth of a second
	maxCounted = 100_000 // rows that are counted of one state, kind and folder
)

// getRows lists rows by time. What is of a project by its name alone is looked for among all.
func (s *searches) getRows(ctx context.Context, q api.ListQuery) (out api.Listing, err error) {
	f := rows.ListFilter{
		State: rows.State(q.State), Kinds: kindsOf(q.Kind), Since: q.Since, Until: q.Until, Oldest: q.Sort == "oldest",
		From: rows.Place{At: q.Cursor.On, Position: q.Cursor.At}, Limit: q.Limit, Looked: maxLooked,
	}
	if f.Roots, f.Match, err = s.listed(ctx, q.Project); err != nil {
		return out, err
	}
	out.Position = s.Views.Position()
	found, next, err := s.Recall.List(ctx, f)
	if err == nil && q.Counts {
		out.Counts, err = s.Views.CountStates(ctx, f.Roots, f.Kinds, maxCounted)
	}
	out.Rows, out.NextCursor = list(found), api.ListRoute.PageAfter(q, api.Cursor{At: next.Position, On: next.At})
	return out, err
}

// listed is where the rows of a project are: in the lists of its roots, or, where some are of it by name alone, among all that match.
func (s *searches) listed(ctx context.Context, named string) (roots []string, match func(rows.Row) bool, err error) {
	if named == "" {
		return nil, nil, nil
	}
	belongs, err := s.belongs(ctx, named)
	if err != nil {
		return nil, nil, err
	}
	if p := s.projectOf(ctx, named); p.Root != "" {
		own, err := s.Views.Extent(ctx, p.Root, p.Key)
		if err != nil || len(own.Names) == 0 {
			return own.Roots, nil, err
		}
	}
	return nil, func(row rows.Row) bool { return belongs(row.ProjectRoot, row.Project) }, nil
}

// afterResults is where a search goes on that came to a page by at: in the order of what its first page knew, behind the row that it
// found last. An order by relevance moves while memory grows: what was shown, or passed over by an offset, is marked there.
func afterResults(at api.Cursor, q recall.Query, found recall.Answer) api.Cursor {
	next := api.Cursor{AsOf: cmp.Or(q.AsOf, found.Position), Passed: q.Offset + len(found.Results)}
	if len(found.Results) == 0 || next.Passed >= found.Total || next.Passed > recall.MaxOffset {
		return api.Cursor{}
	}
	next.Row = found.Last
	if q.Text == "" || q.Sort == recall.Newest || q.Sort == recall.Oldest {
		return next
	}
	ids := found.Passed
	for _, r := range found.Results {
		ids = append(ids, r.Mark)
	}
	return next.WithMarks(at.Shown, ids...)
}

// recencyOf is per cent as searches have it: nil is 0, and 0 is below 0.
func recencyOf(percent *int) float64 {
	switch {
	case percent == nil:
		return 0
	case *percent == 0:
		return -1
	}
	return float64(*percent) / 100
}

func (s *searches) getRow(ctx context.Context, q api.RowQuery) (api.Row, error) {
	id, err := s.Recall.Resolve(ctx, q.ID)
	if err != nil {
		return api.Row{}, err
	}
	row, err := s.Views.Row(ctx, id)
	if err != nil {
		return api.Row{}, err
	}
	return row, s.mayReachRow(ctx, row)
}

// mayReachRow is mayReach of a row. Of one that was forgotten nothing is left that is of a project.
func (s *sources) mayReachRow(ctx context.Context, row api.Row) error {
	if row.Kind == "" {
		return nil
	}
	return s.mayReach(ctx, row.ProjectRoot, row.Project)
}

// mayReachID is mayReach of the row that text names.
func (s *sources) mayReachID(ctx context.Context, text string) error {
	if callerOf(ctx).kept == nil {
		return nil
	}
	id, err := s.Recall.Resolve(ctx, text)
	if err != nil {
		return err
	}
	row, err := s.Views.Row(ctx, id)
	if err != nil {
		return err
	}
	return s.mayReachRow(ctx, row)
}

func (s *searches) getTimeline(ctx context.Context, asked api.TimelineQuery) (api.Timeline, error) {
	q := recall.TimelineQuery{Anchor: asked.Anchor, Text: asked.Query, Before: asked.Before, After: asked.After}
	q.Project, q.Key = s.filterOf(ctx, asked.Project)
	t, err := s.Recall.Timeline(ctx, q)
	if err == nil {
		err = s.mayReachTimeline(ctx, t, asked.Project != "")
	}
	t.Before, t.After = list(t.Before), list(t.After)
	return t, err
}

// mayReachTimeline is mayReach of what stands around an anchor; a moment is of no project, so that one is to be named.
func (s *searches) mayReachTimeline(ctx context.Context, t recall.Timeline, named bool) error {
	switch {
	case callerOf(ctx).kept == nil:
		return nil
	case t.Anchor != nil:
		return s.mayReach(ctx, t.Anchor.ProjectRoot, t.Anchor.Project)
	case named:
		return nil
	}
	return ofAnother("a moment is of all projects: name one")
}

// postRows returns rows by the ids of a body.
func (s *searches) postRows(ctx context.Context, q api.RowsRequest) (api.Rows, error) {
	return s.rows(ctx, q.IDs)
}

// rows are rows by id. Ids that name no row are listed; those that cannot be ids are the request's fault.
func (s *searches) rows(ctx context.Context, ids []string) (api.Rows, error) {
	out := api.Rows{Position: s.Views.Position(), Rows: []api.Row{}, WhyMissing: map[string]string{}}
	for _, text := range ids {
		found, err := s.Recall.Show(ctx, text)
		if err == nil && len(found) == 1 {
			err = s.mayReachRow(ctx, found[0])
		}
		p, known := problemFor(err)
		switch {
		case err == nil && len(found) == 1 && found[0].Kind != "":
			out.Rows = append(out.Rows, found[0])
		case err == nil, known && (p.Status == http.StatusNotFound || p.Status == http.StatusForbidden):
			out.Missing = append(out.Missing, text)
			if err != nil && !errors.Is(err, recall.ErrNotFound) {
				out.WhyMissing[text] = p.Detail
			}
		default:
			return out, err
		}
	}
	var err error
	if out.Parts, err = s.Recall.Parts(ctx, out.Rows...); err != nil {
		return out, err
	}
	if out.Newer, err = s.Recall.Newer(ctx, out.Rows...); err != nil {
		return out, err
	}
	out.Later, err = s.Recall.Later(ctx, out.Rows...)
	return out, err
}

// getInputs returns what a row was made of, whole.
func (s *searches) getInputs(ctx context.Context, q api.InputsQuery) (api.Inputs, error) {
	if err := s.mayReachID(ctx, q.ID); err != nil {
		return api.Inputs{}, err
	}
	found, err := s.Recall.Inputs(ctx, recall.InputsQuery{ID: q.ID, After: cmp.Or(q.Cursor.At, q.After), Limit: q.Limit})
	return api.Inputs{RowInputs: found, NextCursor: api.InputsRoute.PageAfter(q, api.Cursor{At: found.Next})}, err
}
