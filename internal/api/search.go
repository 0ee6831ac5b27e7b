package api

import (
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/memory/recall"
)

// SearchRoute finds rows.
var SearchRoute = Route[SearchQuery, SearchResults]{get, "/v1/search", ScopeView, "rows by words, filters and time"}

// SearchQuery says what to look for. Zero fields do not narrow; without a Text the newest come first.
type SearchQuery struct {
	Text    string `param:"q"`
	Project string `param:"project" help:"its name, or any folder of it"`
	Kind    string `param:"kind" words:"observation,summary,memory,prompt" several:"true" help:"observation, summary, memory, prompt; several with commas, or given again"`
	Type    string `param:"type" help:"of observations: bugfix, feature, decision, ..."`
	Concept string `param:"concept" help:"one that stands beside it"`
	// An absolute one is looked for in every folder of its project.
	File string `param:"file" help:"the end of a path that it is about, or of a folder's; or an absolute path"`
	// Or the name that whoever saved a memory gave.
	Session string    `param:"session" help:"its id, ours or the agent's"`
	Agent   string    `param:"agent" help:"whose memory"`
	Since   time.Time `param:"since" help:"not before"`
	Until   time.Time `param:"until" help:"not after"`
	AsOf    Moment    `param:"as_of" ofpage:"true" help:"what was known at this position of the log, or then"`
	// Empty: relevance.
	Sort    string `param:"sort" words:"relevance,newest,oldest" help:"relevance, newest, oldest"`
	Recency *int   `param:"recency" most:"1000" help:"per cent that the newest is worth above the very old; 0: age does not count (default: search_recency)"`
	Facets  bool   `param:"facets" ofpage:"true" help:"count what matches, by words or by meaning, by project, type, concept, file and month"`
	// Results have no Parts, which take longer to read than all else.
	Brief   bool `param:"brief" ofpage:"true"`
	Explain bool `param:"explain" ofpage:"true" help:"say of each result why it stands where it stands"`
	Limit   int  `param:"limit" default:"20" most:"100" ofpage:"true" help:"how many, at most 100"`
	Offset  int  `param:"offset" most:"10000" ofpage:"true" help:"how many of the best to leave out"`
	// NextCursor of the page before, in the place of Offset and AsOf.
	Cursor Cursor          `param:"cursor" ofpage:"true"`
	After  events.Position `param:"after" wait:"true" help:"wait until this position of the log is known"`
}

// SearchResults is the answer to a search.
type SearchResults struct {
	recall.Answer
	// NextCursor is the next page. None: there is no more, or it would begin behind recall.MaxOffset rows, whatever Total says.
	// Pages by relevance fit together for the first maxMarks rows; behind those one may come twice or be missed as memory grows.
	NextCursor Cursor `json:"next_cursor,omitzero"`
}
