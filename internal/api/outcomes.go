package api

import (
	"time"

	"github.com/cmemd/cmemd/events"
)

// OutcomesRoute accounts for inputs. Of the turn that it is asked for it says what was answered, also where that was kept.
var OutcomesRoute = Route[OutcomesQuery, Outcomes]{get, "/v1/outcomes", ScopeView, "what became of inputs"}

// OutcomesQuery chooses inputs by what became of them, the newest first.
type OutcomesQuery struct {
	Outcome string `param:"outcome" words:"observed,skipped,dropped,pending,forgotten" help:"observed, skipped, dropped, pending, forgotten"`
	Class   string `param:"class" help:"of a dropped output: idle, xml, prose"`
	Reason  string `param:"reason" help:"why it was skipped or dropped"`
	// Of event.
	Kind    string    `param:"kind" words:"tool_used,context_compacted,agent_stopped" help:"tool_used, context_compacted, agent_stopped"`
	Turn    string    `param:"turn" help:"what a turn was asked about: its id, or the beginning of it"` // 8 hex digits or more
	Session string    `param:"session" help:"its id, ours or the agent's"`
	Project string    `param:"project" help:"of a project's sessions: its name, or any folder of it"`
	Since   time.Time `param:"since" help:"recorded since"`
	Until   time.Time `param:"until" help:"recorded until"`
	// Next of the page before; 0: the latest.
	Before events.Position `param:"before" ofpage:"true" help:"only those before this position of the log: the next page"`
	// NextCursor of the page before, in the place of Before.
	Cursor Cursor `param:"cursor" ofpage:"true"`
	Limit  int    `param:"limit" default:"100" most:"10000" ofpage:"true" help:"how many, at most 10,000"`
	// The answer must know this position; 0: whatever is known.
	After events.Position `param:"after" wait:"true"`
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

// WhoAnswered is who was asked in a turn, and for people what was said where that was dropped.
type WhoAnswered struct {
	Provider string        `json:"provider"`
	Model    string        `json:"model,omitempty"`
	Instead  []string      `json:"instead,omitempty"` // providers that stood before it and were passed over
	Preview  events.Output `json:"preview,omitzero"`  // of a dropped output: its beginning, 200 characters at most
	Output   events.Output `json:"output,omitzero"`   // all of it, of the turn that the query names
}
