package recall

import (
	"errors"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/injections"
	"github.com/cmemd/cmemd/projections/outcomes"
	"github.com/cmemd/cmemd/projections/rows"
	"github.com/cmemd/cmemd/projections/sessions"
	"github.com/cmemd/cmemd/projections/turn"
)

// Why is the chain of events behind a row.
type Why struct {
	Row      rows.Row          `json:"row"`
	Recorded Record            `json:"recorded"` // the event that holds the row
	Turns    []WhyTurn         `json:"turns"`    // that led to it; none for prompts and saved memories
	Prompt   *rows.Row         `json:"prompt,omitempty"`
	Injected []WhyInjection    `json:"injected"` // memory that the agent had been given before, newest first
	Verdicts []Verdict         `json:"verdicts"` // its claims, and what ground truth says of them now
	Replaced *rows.Row         `json:"replaced_by,omitempty"`
	Older    []rows.Row        `json:"older,omitempty"` // rows whose place it took: their inputs were observed again, or they sum up the same session
	Newer    []rows.Row        `json:"newer,omitempty"` // rows that took its own place so, oldest first
	Attempts []WhyAttempt      `json:"attempts"`        // other turns that were asked about the same inputs, oldest first
	After    []WhyAfter        `json:"after"`           // what became of it since, oldest first
	AsOf     events.Position   `json:"as_of,omitempty"`
	Position events.Position   `json:"position"`
	Session  *sessions.Session `json:"session,omitempty"`

	then moment // that it tells of
}

// Record is what the log holds at a position.
type Record struct {
	events.Header
	Erased  bool   `json:"erased,omitempty"` // its content was erased; the header still verifies
	Preview string `json:"preview,omitempty"`
}

// WhyTurn is one request to the observer, what it was asked about and what it said.
type WhyTurn struct {
	turn.Turn
	Inputs []WhyInput `json:"inputs"`           // the first hundred that it settled
	More   int        `json:"more,omitempty"`   // inputs beyond those
	Output *Record    `json:"output,omitempty"` // what the observer answered; nil: nothing yet
}

// WhyInput is one input of a turn and what became of it.
type WhyInput struct {
	Record
	Outcome outcomes.Outcome `json:"outcome"`
	Why     *Erasure         `json:"why_erased,omitempty"`
}

// WhyInjection is memory that an agent was given, with its rows in short.
type WhyInjection struct {
	injections.Injection
	Rows []Item `json:"rows"`
}

// Verdict is a claim with what was found when it was made and what the latest look found.
type Verdict = rows.Verdict

// WhyQuery asks for the chain behind a row.
type WhyQuery struct {
	ID   string          // or the beginning of it
	AsOf events.Position // as it was known then; 0: now
}

// ErrNotYet is a row that was not known at the position asked for.
var ErrNotYet = errors.New("recall: not known at that position yet")

// WhyAttempt is another turn that was asked about inputs of the row's own turns.
type WhyAttempt struct {
	turn.Turn
	Later bool `json:"later,omitempty"` // it began after the turn that led to the row
}

// WhyAfter is one thing that happened to a row after it was recorded.
type WhyAfter struct {
	What     string           `json:"what"`
	At       time.Time        `json:"at"`
	Position events.Position  `json:"position,omitempty"` // of the record that says so; 0: not known
	ID       events.ID        `json:"id,omitzero"`        // of the other row
	Session  events.SessionID `json:"session,omitzero"`   // that it was given to
	Hook     string           `json:"hook,omitempty"`
	Claim    *events.Claim    `json:"claim,omitempty"`  // as it was found
	By       events.Position  `json:"by,omitempty"`     // of the tool use that undid it
	How      events.Undoing   `json:"how,omitempty"`    // it was undone
	Writer   events.Writer    `json:"writer,omitempty"` // who decided it; empty: nobody, or it was before writers were on record
}
