package api

import "github.com/cmemd/cmemd/internal/memory/recall"

// WhyRoute explains a row.
var WhyRoute = Route[WhyQuery, Why]{get, "/v1/why/{id}", ScopeView, "the chain behind a row"}

// What is behind a row.
type (
	Why                = recall.Why                // the chain behind it
	MemoryForgottenRow = recall.MemoryForgottenRow // what is left of one that was forgotten
	WhyTurn            = recall.WhyTurn            // one turn and the inputs that it settled or read
	WhyAttempt         = recall.WhyAttempt         // another turn over the same inputs
	WhyAfter           = recall.WhyAfter           // one thing that happened to the row after it was recorded
	WhyInput           = recall.WhyInput           // one input of a turn as it is in the log
)

// RowInputs is a page of what a row was made of.
type RowInputs = recall.Inputs

// Inputs is what a row was made of, as it was captured.
type Inputs struct {
	RowInputs
	NextCursor Cursor `json:"next_cursor,omitzero"` // the next page; none: there is no more
}

// WhyQuery asks for the chain behind a row. What was not recorded yet at its moment is a *Problem with status 404.
type WhyQuery struct {
	ID   string `path:"id"`
	AsOf Moment `param:"as_of" flag:"at" help:"as it was known at this position of the log, or then"`
}

// AnyProject is as that of RowsQuery.
func (WhyQuery) AnyProject() bool { return true }
