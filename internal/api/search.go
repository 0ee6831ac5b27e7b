package api

import (
	"time"

	"github.com/cmemd/cmemd/events"
)

// SearchRoute finds rows.
var SearchRoute = Route[SearchQuery, SearchResults]{get, "/v1/search", ScopeView, "rows by words, filters and time"}

// SearchQuery says what to look for. Zero fields do not narrow; without a Text the newest come first.
type SearchQuery struct {
	Text    string          `param:"q"`
	Project string          `param:"project"`                                                       // any folder of it, or its shown name
	Kind    string          `param:"kind" words:"observation,summary,memory,prompt" several:"true"` // several with commas between
	Type    string          `param:"type"`
	Concept string          `param:"concept"`
	File    string          `param:"file"`    // the end of a path, or of a folder's: what lies in it; an absolute one in every folder of its project
	Session string          `param:"session"` // our id, or the agent's or the saver's own name
	Agent   string          `param:"agent"`
	Since   time.Time       `param:"since"` // inclusive, as Until
	Until   time.Time       `param:"until"`
	AsOf    Moment          `param:"as_of"`                                // nothing that was recorded later
	Sort    string          `param:"sort" words:"relevance,newest,oldest"` // empty: relevance
	Recency *int            `param:"recency" most:"1000"`                  // per cent that the newest is worth above the very old; nil: as configured
	Facets  bool            `param:"facets"`                               // count the values of all that match
	Explain bool            `param:"explain"`                              // say of each result why it has its score
	Limit   int             `param:"limit" default:"20" most:"100"`
	Offset  int             `param:"offset" most:"10000"`
	Cursor  Cursor          `param:"cursor"`            // NextCursor of the page before, in the place of Offset and AsOf
	After   events.Position `param:"after" wait:"true"` // the answer must know this position; 0: whatever is known
}

// SearchResults is the answer to a search.
type SearchResults struct {
	Position   events.Position `json:"position"`             // what the answer knows
	Total      int             `json:"total"`                // rows that matched, as far as they were counted
	Results    []Result        `json:"results"`              // best first; never null
	NextCursor Cursor          `json:"next_cursor,omitzero"` // the next page; none: there is no more
	Facets     *Facets         `json:"facets,omitempty"`
	Near       bool            `json:"near,omitempty"` // vectors were looked at too
	Note       string          `json:"note,omitempty"` // what a person should know of the vectors that were not, or not all, looked at
}
