package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cmemd/cmemd/internal/api"
)

// searchArgs are the arguments of search.
type searchArgs struct {
	Query   string `json:"query" says:"words of what is looked for; rows that hold any of them are found. File names, identifiers and errors are good words"`
	Project string `json:"project" says:"the project: its folder or its shown name, or \"*\" for all; if left out, the one you work in. Others only where the user allows them" most:"4000"`
	Kind    string `json:"kind" says:"only rows of one kind" words:"observation,summary,memory,prompt"`
	Type    string `json:"type" says:"only observations of one type: bugfix, feature, refactor, change, discovery, decision, ..."`
	Concept string `json:"concept" says:"only rows that stand under this concept: gotcha, pattern, trade-off, how-it-works, ..."`
	File    string `json:"file" says:"only rows about files whose path ends so, or that lie in such a folder; an absolute path will do" most:"4000"`
	Session string `json:"session" says:"only rows of one session, by its id"`
	Since   string `json:"since" says:"not before: 2026-01-31, 2026-01-31T15:04Z, or how long ago: 36h, 7d, 2w"`
	Until   string `json:"until" says:"not after; written as since is"`
	AsOf    string `json:"as_of" says:"as memory stood then; written as since is"`
	Limit   int    `json:"limit" says:"how many rows" least:"1" most:"100" default:"20"`
	Offset  int    `json:"offset" says:"how many of the best to pass over: for the next page" least:"0" most:"10000" default:"0"`
}

func searchTool() spec {
	return spec{
		name: "search", title: "Search memory", hints: reads(),
		description: "Search memory of earlier sessions by any of its words, best first. Returns one short line a result (about 50 tokens) with its handle, and below it the other rows of the same prompt; read what matters with `get`. Without a query it lists the newest.",
	}
}

func (c call) search(ctx context.Context, in searchArgs) (string, error) {
	q, err := c.queryOf(in)
	if err != nil {
		return "", err
	}
	place, named := c.scope(in.Project)
	found, wider, err := c.searchIn(ctx, q, place, named)
	if err != nil {
		return "", err
	}
	if wider {
		place = Place{Name: everywhere}
	}
	return c.searchPage(in, found, place, wider), nil
}

// queryOf is what the arguments ask for, in all projects.
func (s *Server) queryOf(in searchArgs) (q api.SearchQuery, err error) {
	q = api.SearchQuery{
		Text: in.Query, Kind: in.Kind, Type: in.Type, Concept: in.Concept, File: in.File, Session: in.Session,
		Limit: in.Limit, Offset: in.Offset, After: s.known(),
	}
	now := s.cfg.Now()
	if q.Since, err = timeOf("since", in.Since, now); err != nil {
		return q, err
	}
	if q.Until, err = timeOf("until", in.Until, now); err != nil {
		return q, err
	}
	q.AsOf.Time, err = timeOf("as_of", in.AsOf, now)
	return q, err
}

// scope is the project to look in, and whether the caller named it. The zero Place is the one that the person lets agents reach.
func (c call) scope(project string) (place Place, named bool) {
	switch project = strings.TrimSpace(project); project {
	case "":
		return c.here, false
	case everywhere:
		return Place{Name: everywhere}, true
	}
	return c.named(project), true
}

// filter is a Place as the daemon looks for it.
func (p Place) filter() string {
	return cmp.Or(p.Root, p.Name)
}

// searchIn looks in a project. Where nobody named it and it has nothing, all projects are looked through, if the person lets agents read
// them: wider says so.
func (s *Server) searchIn(ctx context.Context, q api.SearchQuery, place Place, named bool) (found api.SearchResults, wider bool, err error) {
	q.Project = place.filter()
	found, err = api.SearchRoute.Call(ctx, s.cfg.Memory, q)
	if err != nil || len(found.Results) > 0 || named || place.Root == "" {
		return found, false, err
	}
	q.Project = everywhere
	all, err := api.SearchRoute.Call(ctx, s.cfg.Memory, q)
	if problem, ok := errors.AsType[*api.Problem](err); ok && problem.Type == api.ProblemForbidden {
		return found, false, nil
	}
	return all, true, err
}

// maxNote is the longest note about a search, in characters.
const maxNote = 300

func (c call) searchPage(in searchArgs, found api.SearchResults, place Place, wider bool) string {
	p := newPage(strings.TrimPrefix(place.Name, everywhere))
	shown := 0
	for _, r := range found.Results {
		if !p.put(indexLine(r, place.Name)) {
			break
		}
		shown++
	}
	where, nowhere := "in project "+quoted(place.Name), "of project "+quoted(place.Name)
	switch place.Name {
	case everywhere:
		where, nowhere = "in all projects", "of any project"
	case "":
		where, nowhere = "that you may reach", "that you may reach"
	}
	if found.Note != "" {
		p.next("Note: " + oneLine(found.Note, maxNote))
	}
	if shown == 0 {
		p.head = fmt.Sprintf("Nothing %s that is remembered fits.", nowhere)
		p.next("Try other words, or fewer filters.")
		return p.String()
	}
	p.head = fmt.Sprintf("%d of %d rows %s. %s", shown, max(found.Total, shown), where, indexLegend)
	if wider {
		p.head = "Nothing in this project; other projects have this. " + p.head
	}
	if in.Offset+shown < found.Total {
		p.next(fmt.Sprintf("More: the same search with offset %d.", in.Offset+shown))
	}
	p.next("Next: `get` with the handles that matter, all in one call; `timeline` with one for what happened around it.")
	return p.String()
}
