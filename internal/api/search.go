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
	Project string          `param:"project" help:"its name, or any folder of it"`                                                                                                   // any folder of it, or its shown name
	Kind    string          `param:"kind" words:"observation,summary,memory,prompt" several:"true" help:"observation, summary, memory, prompt; several with commas, or given again"` // several with commas between
	Type    string          `param:"type" help:"of observations: bugfix, feature, decision, ..."`
	Concept string          `param:"concept" help:"one that stands beside it"`
	File    string          `param:"file" help:"the end of a path that it is about, or of a folder's; or an absolute path"` // the end of a path, or of a folder's: what lies in it; an absolute one in every folder of its project
	Session string          `param:"session" help:"its id, ours or the agent's"`                                            // our id, or the agent's or the saver's own name
	Agent   string          `param:"agent" help:"whose memory"`
	Since   time.Time       `param:"since" help:"not before"` // inclusive, as Until
	Until   time.Time       `param:"until" help:"not after"`
	AsOf    Moment          `param:"as_of" help:"what was known at this position of the log, or then"`                                                                 // nothing that was recorded later
	Sort    string          `param:"sort" words:"relevance,newest,oldest" help:"relevance, newest, oldest"`                                                            // empty: relevance
	Recency *int            `param:"recency" most:"1000" help:"per cent that the newest is worth above the very old; 0: age does not count (default: search_recency)"` // per cent that the newest is worth above the very old; nil: as configured
	Facets  bool            `param:"facets" help:"count what matches, by words or by meaning, by project, type, concept, file and month"`                              // count the values of all that match
	Explain bool            `param:"explain" help:"say of each result why it stands where it stands"`                                                                  // say of each result why it has its score
	Limit   int             `param:"limit" default:"20" most:"100" help:"how many, at most 100"`
	Offset  int             `param:"offset" most:"10000" help:"how many of the best to leave out"`
	Cursor  Cursor          `param:"cursor"`                                                                // NextCursor of the page before, in the place of Offset and AsOf
	After   events.Position `param:"after" wait:"true" help:"wait until this position of the log is known"` // the answer must know this position; 0: whatever is known
}

// SearchResults is the answer to a search.
type SearchResults struct {
	Position events.Position `json:"position"` // what the answer knows
	Total    int             `json:"total"`    // rows that matched, as far as they were counted
	Results  []Result        `json:"results"`  // best first; never null
	// NextCursor is the next page. None: there is no more, or it would begin behind recall.MaxOffset rows, whatever Total says.
	// Pages by relevance fit together for the first maxMarks rows; behind those one may come twice or be missed as memory grows.
	NextCursor Cursor  `json:"next_cursor,omitzero"`
	Facets     *Facets `json:"facets,omitempty"`
	Near       bool    `json:"near,omitempty"` // vectors were looked at too
	Note       string  `json:"note,omitempty"` // what a person should know of the vectors that were not, or not all, looked at
}
