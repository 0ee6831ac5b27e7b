package server

import (
	"net/http"
	"strings"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/recall"
)

const (
	defaultDepth = 5   // rows on either side of a timeline's anchor
	maxDepth     = 200 // the same, at most
)

func (s *Server) getTimeline(w http.ResponseWriter, r *http.Request) error {
	p := paramsOf(r, "anchor", "query", "before", "after", "project")
	q := recall.TimelineQuery{
		Anchor: p.text("anchor"), Text: p.text("query"),
		Before: p.number("before", defaultDepth, maxDepth), After: p.number("after", defaultDepth, maxDepth),
	}
	q.Project, q.Of = filterOf(p.text("project"))
	if (q.Anchor == "") == (strings.TrimSpace(q.Text) == "") {
		p.wrong("anchor", "give either this or query")
	}
	if err := p.err(); err != nil {
		return err
	}
	t, err := s.cfg.Recall.Timeline(r.Context(), q)
	if err != nil {
		return err
	}
	return writeJSON(w, api.Timeline{Position: t.Position, Anchor: t.Anchor, At: t.At, Before: list(t.Older), After: list(t.Newer)})
}
