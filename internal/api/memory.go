package api

import (
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
)

// The routes that save, correct and take back.
var (
	SaveRoute    = Route[Memory, Saved]{post, "/v1/memories", ScopeEdit, "saves or corrects one"} // on disk when it is answered
	ConfirmRoute = Route[ConfirmRequest, Confirmed]{post, "/v1/memories/{id}/confirm", ScopePerson, "vouches for one, or no more"}
	UndoRoute    = Route[IDQuery, Undone]{post, "/v1/memories/{id}/undo", ScopeEdit, "takes a correction back"} // undone once more, it is as before
)

// Memory is what a person or an agent wants remembered.
type Memory struct {
	Project     string    `json:"project"` // shown name
	ProjectRoot string    `json:"project_root,omitempty"`
	Title       string    `json:"title,omitempty"` // empty: the beginning of Text
	Text        string    `json:"text"`            // required
	At          time.Time `json:"at,omitzero"`     // when it was true; zero: now
	Session     string    `json:"session,omitempty"`
	Type        string    `json:"type,omitempty"`
	Concepts    []string  `json:"concepts,omitempty"`
	Files       []string  `json:"files,omitempty"`
	// Supersedes is the row that this one corrects: its handle or id, or the beginning of that. That leaves searches and injections, and
	// stays behind why. Project, type, concepts and files that are not given are the corrected one's.
	Supersedes string `json:"supersedes,omitempty"`
}

// AnyProject reports whether m is of the project of the row that it corrects.
func (m Memory) AnyProject() bool {
	return m.Supersedes != "" && m.Project == "" && m.ProjectRoot == ""
}

// Saved is where a memory went.
type Saved struct {
	ID         events.ID       `json:"id"`
	Handle     rows.Handle     `json:"handle,omitzero"` // short for ID, in this log
	Position   events.Position `json:"position"`
	Superseded []events.ID     `json:"superseded,omitempty"` // rows whose place it took: what was corrected, and what says the same
}

// ConfirmRequest is a person's word on a row: that it holds, whoever's words were read for it.
type ConfirmRequest struct {
	ID       string `path:"id" json:"-"`
	Withdraw bool   `json:"withdraw,omitempty"` // it is not vouched for any more
}

// Confirmed says which row is vouched for, or is not any more.
type Confirmed struct {
	ID        events.ID       `json:"id"`
	Handle    rows.Handle     `json:"handle,omitzero"`
	Position  events.Position `json:"position"`
	Withdrawn bool            `json:"withdrawn,omitempty"`
}

// Undone says what an undo came to.
type Undone struct {
	Position  events.Position `json:"position"`
	Restored  []events.ID     `json:"restored"`  // rows that stand again; never null
	Withdrawn []events.ID     `json:"withdrawn"` // rows that do not any more; never null
}
