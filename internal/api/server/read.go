package server

import (
	"context"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/recall"
	"github.com/cmemd/cmemd/projections/rows"
)

// await waits until answers know position at, for a limited time.
func (s *Server) await(ctx context.Context, at events.Position) error {
	if at == 0 || s.watermark.Position() >= at {
		return nil
	}
	last, err := s.cfg.Log.Last(ctx)
	if err != nil {
		return err
	}
	if at > last {
		return invalid("after", "the log ends at %d", last)
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.WaitTimeout)
	defer cancel()
	if err := s.watermark.Wait(ctx, at); err != nil {
		if ctx.Err() == nil {
			return err
		}
		return notNow(api.ProblemBehind, "The views are behind", s.cfg.WaitTimeout, "they do not know that position yet")
	}
	return nil
}

func (s *Server) getSearch(ctx context.Context, asked api.SearchQuery) (found api.SearchResults, err error) {
	q := recall.Query{
		Text: asked.Text, Type: asked.Type, Concept: asked.Concept, File: asked.File, FileIn: fileOf(asked.File), Agent: asked.Agent,
		Since: asked.Since, Until: asked.Until, Sort: recall.Sort(asked.Sort), Recency: recencyOf(asked.Recency),
		Facets: asked.Facets, Explain: asked.Explain, Near: true, Limit: asked.Limit, Offset: asked.Offset,
	}
	for kind := range strings.SplitSeq(asked.Kind, ",") {
		if kind = strings.TrimSpace(kind); kind != "" {
			q.Kinds = append(q.Kinds, rows.Kind(kind))
		}
	}
	q.Project, q.Of = filterOf(asked.Project)
	if q.Session, err = s.sessionTerm(ctx, asked.Session); err != nil {
		return found, err
	}
	answer := q.Nothing(s.watermark.Position())
	var known bool
	if q.AsOf, known, err = s.asOf(ctx, asked.AsOf); err == nil && known {
		answer, err = s.cfg.Recall.Search(ctx, q)
	}
	return api.SearchResults{
		Position: answer.Position, Total: answer.Total, Results: list(answer.Results), Facets: answer.Facets, Near: answer.Near, Note: answer.Note,
	}, err
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

// list is v, but never null in JSON.
func list[T any](v []T) []T {
	if v == nil {
		return []T{}
	}
	return v
}

func (s *Server) getRow(ctx context.Context, q api.RowQuery) (api.Row, error) {
	id, err := s.cfg.Recall.Resolve(ctx, q.ID)
	if err != nil {
		return api.Row{}, err
	}
	return s.cfg.Views.Row(ctx, id)
}

// maxPreview is how much of a record a chain shows, in bytes.
const maxPreview = 200
