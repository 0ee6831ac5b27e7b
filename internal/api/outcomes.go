package api

import (
	"time"

	"github.com/cmemd/cmemd/events"
)

// OutcomesRoute accounts for inputs.
var OutcomesRoute = Route[OutcomesQuery, Outcomes]{get, "/v1/outcomes", ScopeView, "what became of inputs"}

// OutcomesQuery chooses inputs by what became of them, the newest first.
type OutcomesQuery struct {
	Outcome string          `param:"outcome" words:"observed,skipped,dropped,pending,forgotten"`
	Class   string          `param:"class"`
	Reason  string          `param:"reason"`
	Kind    string          `param:"kind" words:"tool_used,context_compacted,agent_stopped"` // of event
	Turn    string          `param:"turn"`                                                   // settled by it: its id, or 8 hex digits or more of the beginning
	Session string          `param:"session"`                                                // our id, or the agent's own
	Project string          `param:"project"`                                                // any folder of it, or its shown name
	Since   time.Time       `param:"since"`
	Until   time.Time       `param:"until"`
	Before  events.Position `param:"before"` // Next of the page before; 0: the latest
	Cursor  Cursor          `param:"cursor"` // NextCursor of the page before, in the place of Before
	Limit   int             `param:"limit" default:"100" most:"10000"`
	After   events.Position `param:"after" wait:"true"` // the answer must know this position; 0: whatever is known
}

// Outcomes is what became of inputs.
type Outcomes struct {
	Position   events.Position `json:"position"`
	Balance    Balance         `json:"balance"`              // of all inputs, or of those of the session or project asked for
	Inputs     []Input         `json:"inputs"`               // never null
	Next       events.Position `json:"next,omitempty"`       // the next page lies before it; 0: there is none
	NextCursor Cursor          `json:"next_cursor,omitzero"` // the next page; none: there is no more
	// Turns says who was asked in the turns that the inputs name. One that was forgotten is not in it. Never null.
	Turns map[events.ID]WhoAnswered `json:"turns"`
}

// WhoAnswered is who was asked in a turn.
type WhoAnswered struct {
	Provider string   `json:"provider"`
	Model    string   `json:"model,omitempty"`
	Instead  []string `json:"instead,omitempty"` // providers that stood before it and were passed over
}
