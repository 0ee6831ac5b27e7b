package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/memory/recall"
)

// TimelineQuery asks for what happened around something. One of Anchor and Query is needed.
type TimelineQuery struct {
	Anchor  string // a row's id or its beginning, or a time in RFC 3339
	Query   string // the best hit of this search is the anchor
	Before  int    // 0 means 5; at most 200
	After   int    // 0 means 5; at most 200
	Project string // any folder of it, or its shown name; empty: the anchor's
}

// Timeline is what happened in a project around an anchor, across its sessions, oldest first: rows in short, as a search
// shows them. Rows reads them whole.
type Timeline struct {
	Position events.Position `json:"position"`
	Anchor   *Result         `json:"anchor,omitempty"` // nil: a time
	At       time.Time       `json:"at"`
	Before   []Result        `json:"before"` // never null
	After    []Result        `json:"after"`  // never null
}

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
	return writeJSON(w, Timeline{Position: t.Position, Anchor: t.Anchor, At: t.At, Before: list(t.Older), After: list(t.Newer)})
}
