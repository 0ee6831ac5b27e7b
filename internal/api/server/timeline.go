package server

import (
	"context"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/recall"
)

func (s *Server) getTimeline(ctx context.Context, asked api.TimelineQuery) (api.Timeline, error) {
	q := recall.TimelineQuery{Anchor: asked.Anchor, Text: asked.Query, Before: asked.Before, After: asked.After}
	q.Project, q.Of = filterOf(asked.Project)
	t, err := s.cfg.Recall.Timeline(ctx, q)
	return api.Timeline{Position: t.Position, Anchor: t.Anchor, At: t.At, Before: list(t.Older), After: list(t.Newer)}, err
}
