package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cmemd/cmemd/internal/api"
)

// timelineArgs are the arguments of timeline.
type timelineArgs struct {
	Anchor  string `json:"anchor" says:"a handle such as m41, an id, or a time: 2026-01-31T15:04Z, 2026-01-31, or how long ago: 36h, 7d"`
	Query   string `json:"query" says:"instead of an anchor: the best hit of this search is it"`
	Before  int    `json:"before" says:"how many rows before it" least:"1" most:"100" default:"10"`
	After   int    `json:"after" says:"how many rows after it" least:"1" most:"100" default:"10"`
	Project string `json:"project" says:"the project: its folder or its shown name; if left out, that of the anchor's row" most:"4000"`
}

func timelineTool() spec {
	return spec{
		name: "timeline", title: "What happened around it", hints: reads(),
		description: "Show what happened before and after a row, a moment, or the best hit of a query, across the project's sessions, oldest first: one short line a row. Give anchor or query.",
	}
}

func (c call) timeline(ctx context.Context, in timelineArgs) (string, error) {
	anchor, query := strings.TrimSpace(in.Anchor), strings.TrimSpace(in.Query)
	if (anchor == "") == (query == "") {
		return "", &wrongArgument{"timeline needs either anchor or query", "give a handle or a time as anchor, or words as query."}
	}
	var place Place
	q := api.TimelineQuery{Anchor: anchor, Query: query, Before: in.Before, After: in.After}
	if at, err := timeOf("anchor", anchor, c.cfg.Now()); anchor != "" && err == nil {
		q.Anchor = at.UTC().Format(time.RFC3339Nano)
	}
	switch {
	case in.Project != "" && in.Project != everywhere:
		place = c.named(in.Project)
	case in.Project == "" && (query != "" || q.Anchor != anchor): // a moment is of no project
		place = c.here
	}
	q.Project = place.filter()
	t, err := api.TimelineRoute.Call(ctx, c.cfg.Memory, q)
	if err != nil {
		return "", err
	}
	return timelinePage(t, place.Name), nil
}

// timelinePage shows the rows nearest to the anchor first of all, if there is no room for every one.
func timelinePage(t api.Timeline, project string) string {
	here := fmt.Sprintf("> %s this moment\n", moment(t.At))
	if t.Anchor != nil {
		project = t.Anchor.Project
		here = ">" + strings.TrimPrefix(indexLine(*t.Anchor, project), "-")
	}
	p := newPage(project)
	p.room -= weight(here)
	before, after := []string{}, []string{}
	cut := false
	for i := range max(len(t.Before), len(t.After)) {
		if n := len(t.Before) - 1 - i; n >= 0 {
			cut = !p.take(&before, indexLine(t.Before[n], project)) || cut
		}
		if i < len(t.After) {
			cut = !p.take(&after, indexLine(t.After[i], project)) || cut
		}
	}
	for i := range before {
		p.body.WriteString(before[len(before)-1-i])
	}
	p.body.WriteString(here + strings.Join(after, ""))
	p.head = fmt.Sprintf("%d rows before and %d after it, oldest first. %s", len(before), len(after), indexLegend)
	if cut {
		p.next("Rows further away are left out for length: ask around one of the outermost.")
	}
	p.next("Next: `get` with the handles that matter, all in one call.")
	return p.String()
}

// take adds a line to a list that will stand on the page, if there is room.
func (p *page) take(list *[]string, line string) bool {
	w := weight(line)
	if w > p.room {
		return false
	}
	p.room -= w
	*list = append(*list, line)
	return true
}
