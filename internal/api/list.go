package api

import (
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/memory/recall"
	"github.com/cmemd/cmemd/projections/rows"
)

// ListRoute lists rows without words: all of a project, or those that a person may want to look at.
var ListRoute = Route[ListQuery, Listing]{get, "/v1/rows", ScopeView, "rows in the order of time, or of a state of review"}

// ListQuery says what to list. Zero fields do not narrow.
type ListQuery struct {
	Project string `param:"project" help:"its name, or any folder of it"`
	Kind    string `param:"kind" words:"observation,summary,memory,prompt" several:"true" help:"observation, summary, memory, prompt; several with commas"`
	// Empty: those that searches find.
	State string    `param:"state" words:"flagged,absent,outside,repeated,superseded,asked" help:"flagged, absent (of its claims), outside, repeated, superseded, asked (an agent asked to forget it)"`
	Since time.Time `param:"since" help:"not before"`
	Until time.Time `param:"until" help:"not after"`
	Sort  string    `param:"sort" words:"newest,oldest" default:"newest" help:"newest, oldest"`
	// How many rows there are in each state, of the project and the kinds.
	Counts bool            `param:"counts" ofpage:"true" help:"count what is in each state"`
	Limit  int             `param:"limit" default:"50" most:"200" ofpage:"true" help:"how many, at most 200"`
	Cursor Cursor          `param:"cursor" ofpage:"true"` // NextCursor of the page before
	After  events.Position `param:"after" wait:"true" help:"wait until this position of the log is known"`
}

// Listing is a page of rows. Pages fit together whatever comes and goes meanwhile.
type Listing struct {
	Position events.Position    `json:"position"` // what the answer knows
	Rows     []ListedRow        `json:"rows"`     // never null; a page may hold fewer than there are, and none, where few are of the project
	Counts   map[rows.State]int `json:"counts,omitempty"`
	// NextCursor is the next page; none: there is no more.
	NextCursor Cursor `json:"next_cursor,omitzero"`
}

// ListedRow is a row in short.
type ListedRow = recall.Listed
