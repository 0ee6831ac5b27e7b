package api

import (
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/memory/recall"
)

// WhyRoute explains a row.
var WhyRoute = Route[WhyQuery, Why]{get, "/v1/why/{id}", ScopeView, "the chain behind a row"}

// Why is the chain behind a row: the turns that led to it, what they settled, what was asked, what was known before, and what
// became of it since.
type Why struct {
	Position   events.Position     `json:"position"`
	AsOf       events.Position     `json:"as_of,omitempty"` // as it was known then; 0: now
	Row        Row                 `json:"row"`
	Session    *Session            `json:"session,omitempty"`
	Turns      []WhyTurn           `json:"turns"`      // its own first; never null
	Attempts   []WhyAttempt        `json:"attempts"`   // other turns that were asked about the same inputs, oldest first; never null
	Prompts    []Row               `json:"prompts"`    // of the user, that those inputs served; never null
	Injections []Injection         `json:"injections"` // memory that the agent was given before, newest first; never null
	Verdicts   []Verdict           `json:"verdicts"`   // what ground truth says of its claims now; never null
	After      []WhyAfter          `json:"after"`      // what became of it since, oldest first; never null
	Replaced   *Row                `json:"replaced_by,omitempty"`
	RecordedAt time.Time           `json:"recorded_at"`         // when its claims were looked at first
	Older      []Row               `json:"older,omitempty"`     // rows whose place it took: their inputs were observed again, or they sum up the same session
	Newer      []Row               `json:"newer,omitempty"`     // rows that took its own place so
	Forgotten  *MemoryForgottenRow `json:"forgotten,omitempty"` // nothing else is left of it
}

// MemoryForgottenRow is what is left of a row that was forgotten.
type MemoryForgottenRow struct {
	At       time.Time       `json:"at"`
	Position events.Position `json:"position"` // of the record that says so
	Cause    string          `json:"cause"`
	Records  int             `json:"records"` // that were forgotten with it, in one session
	Residue  events.Hash     `json:"residue"` // of what was erased: proof without words
}

// WhyTurn is one turn and the inputs that it settled or read.
type WhyTurn struct {
	Turn
	CostUSD *float64   `json:"cost_usd,omitempty"` // as prices are now; nil: not known
	Inputs  []WhyInput `json:"inputs"`             // the first hundred; never null
	More    int        `json:"more,omitempty"`     // inputs beyond those
}

// WhyAttempt is another turn over the same inputs.
type WhyAttempt struct {
	Turn
	CostUSD *float64 `json:"cost_usd,omitempty"`
	Later   bool     `json:"later,omitempty"` // it began after the turn that led to the row
}

// WhyAfter is one thing that happened to a row after it was recorded.
type WhyAfter = recall.WhyAfter

// WhyInput is one input of a turn as it is in the log.
type WhyInput struct {
	Position events.Position `json:"position"`
	Kind     events.Kind     `json:"kind"`
	At       time.Time       `json:"at"`
	Outcome  string          `json:"outcome,omitempty"` // of what it settled, as it is now
	Read     bool            `json:"read,omitempty"`    // the turn only read it
	Tool     string          `json:"tool,omitempty"`
	Failed   bool            `json:"failed,omitempty"`
	Preview  string          `json:"preview,omitempty"`
	Input    string          `json:"input,omitempty"`  // the beginning of what the tool was given
	Output   string          `json:"output,omitempty"` // the beginning of what it printed
	Erased   bool            `json:"erased,omitempty"` // what it said is gone
	Why      *recall.Erasure `json:"why_erased,omitempty"`
}

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
