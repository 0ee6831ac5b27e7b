package outcomes

import (
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// View keeps the outcome of every input, and the balance of each session and of all.
type View struct{}

func (View) Name() string        { return "outcomes" }
func (View) Reads() engine.Reads { return engine.Reads{} }

func inputTable() engine.Table[input] { return engine.Table[input]{Name: "rows", Ordered: true} }
func turnTable() engine.Table[decider] {
	return engine.Table[decider]{Name: "turns", Ordered: true}
}
func balanceTable() engine.Table[balance]    { return engine.Table[balance]{Name: "balances"} }
func rareTable() engine.Table[engine.Member] { return engine.Table[engine.Member]{Name: "rare"} } // skipped, dropped, forgotten: by outcome, position

// OwingTable is the set of the sessions in which something is left to settle.
func OwingTable() engine.Table[engine.Member] { return engine.Table[engine.Member]{Name: "owing"} }

func (View) Layout() engine.Layout {
	return engine.Layout{Version: 2, Tables: []engine.TableSpec{
		inputTable().Spec(engine.ShowPosition), turnTable().Spec(engine.ShowID), balanceTable().Spec(engine.ShowID),
		OwingTable().Spec(engine.ShowID), rareTable().Spec(engine.ShowHex),
	}}
}

// Outcome is what became of an input.
type Outcome string

// The outcomes. Every input has exactly one of them at every position.
const (
	Observed  Outcome = "observed"
	Skipped   Outcome = "skipped"
	Dropped   Outcome = "dropped"
	Pending   Outcome = "pending"
	Forgotten Outcome = "forgotten"
)

// Input is one input and its outcome.
type Input struct {
	Position  events.Position  `json:"position"`
	Session   events.SessionID `json:"session"`
	Kind      events.Kind      `json:"kind"`
	At        time.Time        `json:"at"` // when it was recorded
	Outcome   Outcome          `json:"outcome"`
	Turn      events.ID        `json:"turn,omitzero"`      // the turn that decided; zero: none did
	Class     string           `json:"class,omitempty"`    // of the dropped output
	Reason    string           `json:"reason,omitempty"`   // why it was skipped or dropped
	Reobserve bool             `json:"reobserve,omitzero"` // asked for again, by a person or by its session, and not answered yet
}

// Balance says what became of all inputs.
type Balance struct {
	session.Balance

	// Reobserve is how many of them are asked for again, by a person or by their sessions, and not answered yet. Each is
	// counted above too, by what became of it so far.
	Reobserve int `json:"reobserve,omitempty"`

	// Reasons splits Skipped and Dropped, the largest first.
	Reasons []ReasonCount `json:"reasons,omitempty"`
}

// ReasonCount is how many inputs were skipped or dropped for one reason.
type ReasonCount struct {
	Outcome Outcome `json:"outcome"`
	Class   string  `json:"class,omitempty"`
	Reason  string  `json:"reason,omitempty"`
	Count   int     `json:"count"`
}

// Filter chooses inputs. The zero value chooses all.
type Filter struct {
	Outcome Outcome
	Class   string
	Reason  string
	Kind    events.Kind
	Session events.SessionID
	Turn    events.ID                 // settled by it, whichever turn decided in the end
	Among   map[events.SessionID]bool // nil: any session
	Since   time.Time                 // recorded at or after it
	Until   time.Time                 // recorded at or before it
	Before  events.Position           // where an earlier page ended: not at it, nor after it. 0: from the latest on
	Limit   int                       // 0 means 100
}

// Ledger is what the view of outcomes has counted up to one position.
type Ledger struct {
	Position events.Position
	All      Balance
	Sessions map[events.SessionID]Balance // every session that has inputs
}
