package server

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/recall"
	"github.com/cmemd/cmemd/projections/rows"
)

// await waits until answers know position at, for a limited time.
func (s *Server) await(ctx context.Context, at events.Position) error {
	if at == 0 || s.cfg.Recall.Position() >= at {
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
	if err := s.cfg.Recall.Wait(ctx, at); err != nil {
		if ctx.Err() == nil {
			return err
		}
		return notNow(api.ProblemBehind, "The views are behind", s.cfg.WaitTimeout, "they do not know that position yet")
	}
	return nil
}

// kinds are the words for Kind that requests may use, prompts last.
func kinds() []string {
	return []string{string(rows.Observation), string(rows.Summary), string(rows.Memory), string(rows.Prompt)}
}

// kinds reads words for Kind with commas between; none means any.
func (p *params) kinds(name string) (found []rows.Kind) {
	text := p.text(name)
	if text == "" {
		return nil
	}
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); !slices.Contains(kinds(), word) {
			p.wrong(name, "is none of %s, nor several of them with commas between", strings.Join(kinds(), ", "))
			return nil
		}
		found = append(found, rows.Kind(word))
	}
	return found
}

func (s *Server) getSearch(w http.ResponseWriter, r *http.Request) error {
	p := paramsOf(r, "q", "project", "kind", "type", "concept", "file", "session", "agent", "since", "until", "as_of",
		"sort", "recency", "facets", "explain", "limit", "offset", "after")
	q := recall.Query{
		Text: p.text("q"), Kinds: p.kinds("kind"),
		Type: p.text("type"), Concept: p.text("concept"), File: p.text("file"), Session: p.text("session"),
		Agent: p.text("agent"), Since: p.time("since"), Until: p.time("until"),
		Sort: recall.Sort(p.oneOf("sort", SearchSorts()...)), Recency: p.recency("recency"),
		Facets: p.flag("facets"), Explain: p.flag("explain"), Near: true,
		Limit: p.number("limit", recall.DefaultLimit, recall.MaxLimit), Offset: p.number("offset", 0, recall.MaxOffset),
	}
	q.Project, q.Of = filterOf(p.text("project"))
	q.FileIn = fileOf(q.File)
	after := p.position("after")
	asOf, when := p.moment("as_of")
	if err := p.err(); err != nil {
		return err
	}
	if err := s.await(r.Context(), after); err != nil {
		return err
	}
	var err error
	if q.Session, err = s.sessionTerm(r.Context(), q.Session); err != nil {
		return err
	}
	found := q.Nothing(s.cfg.Recall.Position())
	var known bool
	if q.AsOf, known, err = s.asOf(r.Context(), asOf, when); err == nil && known {
		found, err = s.cfg.Recall.Search(r.Context(), q)
	}
	if err != nil {
		return err
	}
	return writeJSON(w, api.SearchResults{
		Position: found.Position, Total: found.Total, Results: list(found.Results), Facets: found.Facets, Near: found.Near, Note: found.Note,
	})
}

// SearchSorts are the orders of a search.
func SearchSorts() []string {
	return []string{string(recall.Relevance), string(recall.Newest), string(recall.Oldest)}
}

// MaxRecency is the most per cent that the newest can be worth above the very old.
const MaxRecency = int(100 * recall.MaxRecency)

// recency reads per cent; absent is 0, and 0 is below 0, as searches have it.
func (p *params) recency(name string) float64 {
	s := p.values.Get(name)
	n, err := strconv.Atoi(s)
	switch {
	case s == "":
		return 0
	case err != nil || n < 0 || n > MaxRecency:
		p.wrong(name, "is no whole number from 0 to %d", MaxRecency)
	case n == 0:
		return -1
	}
	return float64(n) / 100
}

// list is v, but never null in JSON.
func list[T any](v []T) []T {
	if v == nil {
		return []T{}
	}
	return v
}

func (s *Server) getRow(w http.ResponseWriter, r *http.Request) error {
	p := paramsOf(r, "after")
	after := p.position("after")
	if err := p.err(); err != nil {
		return err
	}
	if err := s.await(r.Context(), after); err != nil {
		return err
	}
	id, err := s.cfg.Recall.Resolve(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	row, err := s.cfg.Views.Row(r.Context(), id)
	if err != nil {
		return err
	}
	return writeJSON(w, row)
}

// maxRows is how many rows one request may ask for.
const maxRows = 200

// maxPreview is how much of a record a chain shows, in bytes.
const maxPreview = 200
