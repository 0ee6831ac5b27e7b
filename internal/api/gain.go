package api

import (
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
)

// GainRoute says what became of memory that was injected.
var GainRoute = Route[GainQuery, Gain]{get, "/v1/gain", ScopeView, "what was injected, what of it was followed, what it cost"}

// GainQuery chooses what was injected by when, and turns by when they ended.
type GainQuery struct {
	Project string    `param:"project" help:"its name, or any folder of it"`
	Since   time.Time `param:"since" help:"injected since"`
	Until   time.Time `param:"until" help:"injected until"`
	Limit   int       `param:"limit" default:"10" most:"1000" help:"how many rows, at most 1,000; the sums are of all"`
	// The answer must know this position; 0: whatever is known.
	After events.Position `param:"after" wait:"true"`
}

// Gain is what was injected into sessions, and what they did about it. There is no rate in it: a file that is touched after a
// row about it was injected may have been touched for another reason.
type Gain struct {
	Position events.Position `json:"position"`
	Since    time.Time       `json:"since,omitzero"`
	Until    time.Time       `json:"until,omitzero"`
	Projects []ProjectGain   `json:"projects"`          // those with most injected rows first; never null
	Rows     []InjectedRow   `json:"rows"`              // those that most sessions followed first; never null
	Omitted  int             `json:"omitted,omitempty"` // rows beyond the limit
}

// ProjectGain is what was injected into the sessions of one project, and what its memory cost. A row counts once a session.
type ProjectGain struct {
	Project     string `json:"project"`
	ProjectRoot string `json:"project_root,omitempty"`
	Sessions    int    `json:"sessions"`   // into which anything was injected
	Injections  int    `json:"injections"` // how often
	Characters  int    `json:"characters"` // that this took of their contexts
	Tokens      int    `json:"tokens"`     // about: a quarter of the characters
	Injected    int    `json:"injected"`   // rows
	WithFiles   int    `json:"with_files"` // of these, those that are about a file; a summary is about what its session had changed
	Touched     int    `json:"touched"`    // of these, those of which the session touched a file later; a row injected before a file was read: changed one
	Asked       int    `json:"asked"`      // of the injected rows, those that the session asked for whole later
	Followed    int    `json:"followed"`   // of the injected rows, those that it touched a file of or asked for
	Observer    Spent  `json:"observer"`   // what the turns of all sessions of the project cost
}

// InjectedRow is one row and the sessions into which it was injected.
type InjectedRow struct {
	ID          events.ID   `json:"id"`
	Handle      rows.Handle `json:"handle,omitzero"`
	Kind        rows.Kind   `json:"kind"`
	Type        string      `json:"type,omitempty"`
	Title       string      `json:"title"`
	Project     string      `json:"project"`
	ProjectRoot string      `json:"project_root,omitempty"`
	Injected    int         `json:"injected"` // sessions
	Followed    int         `json:"followed"` // of these, those that touched one of its files or asked for it later
	Asked       int         `json:"asked"`    // of these, those that asked for it
	Files       int         `json:"files"`    // that it is about
	Touched     []string    `json:"touched"`  // of these, those that any of the sessions touched; never null
	LastAt      time.Time   `json:"last_at"`  // injected
}
