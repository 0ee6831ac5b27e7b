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

// LossesRoute says when answers came to nothing.
var LossesRoute = Route[LossesQuery, Losses]{get, "/v1/losses", ScopeView, "turns whose answer came to nothing, by day and class"}

// LossesQuery chooses turns by when they ended, exact to the hour, and to five minutes within the last day.
type LossesQuery struct {
	Since time.Time `param:"since" help:"ended since (default: 30 days ago)"`
	Until time.Time `param:"until" help:"ended until"`
	// The answer must know this position; 0: whatever is known.
	After events.Position `param:"after" wait:"true"`
}

// Losses is how many turns ended, and how many of them came to nothing, of all sessions.
type Losses struct {
	Position events.Position `json:"position"`
	Since    time.Time       `json:"since"` // as asked for
	Days     []LossDay       `json:"days"`  // the oldest first, without those in which no turn ended; never null
}

// LossDay is one day where the daemon runs. An hour is of the day in which it begins.
type LossDay struct {
	Begins   time.Time        `json:"begins"`   // midnight
	Ends     time.Time        `json:"ends"`     // the next one
	Turns    int64            `json:"turns"`    // that ended
	Dropped  map[string]int64 `json:"dropped"`  // outputs that did not parse, by "class/reason"; never null
	Failures map[string]int64 `json:"failures"` // turns that failed, by class: their inputs wait; never null
}
