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

// Why is the chain behind a row: the turns that led to it, what they settled, what was asked, what was known before, and what
// became of it since.
type Why struct {
	Position   events.Position        `json:"position"`
	AsOf       events.Position        `json:"as_of,omitempty"` // as it was known then; 0: now
	Row        rows.Row               `json:"row"`
	Session    *sessions.Session      `json:"session,omitempty"`
	Turns      []WhyTurn              `json:"turns"`      // its own first; never null
	Attempts   []WhyAttempt           `json:"attempts"`   // other turns that were asked about the same inputs, oldest first; never null
	Prompts    []rows.Row             `json:"prompts"`    // of the user, that those inputs served; never null
	Injections []injections.Injection `json:"injections"` // memory that the agent was given before, newest first; never null
	Verdicts   []Verdict              `json:"verdicts"`   // what ground truth says of its claims now; never null
	After      []WhyAfter             `json:"after"`      // what became of it since, oldest first; never null
	Replaced   *rows.Row              `json:"replaced_by,omitempty"`
	RecordedAt time.Time              `json:"recorded_at"`         // when its claims were looked at first
	Older      []rows.Row             `json:"older,omitempty"`     // rows whose place it took: their inputs were observed again, or they sum up the same session
	Newer      []rows.Row             `json:"newer,omitempty"`     // rows that took its own place so, oldest first
	Forgotten  *MemoryForgottenRow    `json:"forgotten,omitempty"` // nothing else is left of it

	then moment // that it is as of
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
	turn.Turn
	CostUSD *float64   `json:"cost_usd,omitempty"` // as prices are now; nil: not known. Who knows prices fills it in
	Inputs  []WhyInput `json:"inputs"`             // the first hundred; never null
	More    int        `json:"more,omitempty"`     // inputs beyond those
}

// WhyInput is one input of a turn as it is in the log.
type WhyInput struct {
	Position events.Position  `json:"position"`
	Kind     events.Kind      `json:"kind"`
	At       time.Time        `json:"at"`
	Outcome  outcomes.Outcome `json:"outcome,omitempty"` // of what it settled, as it is now
	Read     bool             `json:"read,omitempty"`    // the turn only read it
	Tool     string           `json:"tool,omitempty"`
	Failed   bool             `json:"failed,omitempty"`
	Preview  string           `json:"preview,omitempty"`
	Input    string           `json:"input,omitempty"`  // the beginning of what the tool was given
	Output   string           `json:"output,omitempty"` // the beginning of what it printed
	Erased   bool             `json:"erased,omitempty"` // what it said is gone
	Why      *Erasure         `json:"why_erased,omitempty"`
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

// WhyAttempt is another turn over the same inputs.
type WhyAttempt struct {
	turn.Turn
	CostUSD *float64 `json:"cost_usd,omitempty"` // as that of a WhyTurn
	Later   bool     `json:"later,omitempty"`    // it began after the turn that led to the row
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
