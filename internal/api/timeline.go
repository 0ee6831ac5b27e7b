package api

import (
	"strings"

	"github.com/cmemd/cmemd/internal/memory/recall"
)

// TimelineRoute looks around a row.
var TimelineRoute = Route[TimelineQuery, Timeline]{get, "/v1/timeline", ScopeView, "what stands around a row"}

// TimelineQuery asks for what happened around something. One of Anchor and Query is needed.
type TimelineQuery struct {
	Anchor  string `param:"anchor"` // a row's handle, its id or the beginning of that, or a time in RFC 3339
	Query   string `param:"query" help:"take the best hit of this search for the id"`
	Before  int    `param:"before" default:"5" most:"200" help:"how many entries before it"`
	After   int    `param:"after" default:"5" most:"200" help:"how many entries after it"`
	Project string `param:"project" help:"its name, or any folder of it; that of the id, if not given"`
}

// Check implements the queries' method of that name.
func (q *TimelineQuery) Check(wrong Wrong) {
	if (q.Anchor == "") == (strings.TrimSpace(q.Query) == "") {
		wrong("anchor", "give either this or query")
	}
}

// AnyProject reports whether the query is about an anchor alone, whose project it is.
func (q TimelineQuery) AnyProject() bool { return q.Project == "" && q.Query == "" }

// Timeline is what happened in a project around an anchor, across its sessions, oldest first: entries in short, each by its first
// row, as a search shows them. Rows reads them whole.
type Timeline = recall.Timeline
