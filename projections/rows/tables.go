package rows

import (
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// The tables of a View.
func rowTable() engine.Table[Row]              { return engine.Table[Row]{Name: "rows", Ordered: true} }
func bySessionTable() engine.Table[engine.Ref] { return engine.Table[engine.Ref]{Name: "by_session"} }
func byTimeTable() engine.Table[engine.Ref]    { return engine.Table[engine.Ref]{Name: "by_time"} } // listed rows, and those of each State
func byPromptTable() engine.Table[engine.Ref]  { return engine.Table[engine.Ref]{Name: "by_prompt"} }

func groupTable() engine.Table[group] { return engine.Table[group]{Name: "groups"} }

func turnTable() engine.Table[turnState] {
	return engine.Table[turnState]{Name: "turns", Ordered: true}
}

func inputTable() engine.Table[inputState] {
	return engine.Table[inputState]{Name: "inputs", Ordered: true}
}

// checkTable says whose row a later check is of.
func checkTable() engine.Table[engine.Ref] {
	return engine.Table[engine.Ref]{Name: "checks", Ordered: true}
}

func forgottenTable() engine.Table[forgotten] { return engine.Table[forgotten]{Name: "forgotten"} }

// group is the rows of one session that say the same, oldest first. One of them leads: the first that is not flagged,
// else the first. It is listed, with the count and the turns of all; the others are folded into it.
type group struct {
	Rows []events.ID `cbor:"1,keyasint,omitempty" json:"rows"`
	Lead events.ID   `cbor:"2,keyasint,omitzero" json:"lead"`
}

// forgotten is what is left of a row that was forgotten: when, and by which record.
type forgotten struct {
	Position events.Position `cbor:"1,keyasint,omitempty" json:"position"`
	At       time.Time       `cbor:"2,keyasint,omitzero" json:"at"`
}

// turnState is a turn as far as its rows depend on it.
type turnState struct {
	Settles      []events.Position `cbor:"1,keyasint,omitempty" json:"settles"`
	Rows         []events.ID       `cbor:"2,keyasint,omitempty" json:"rows,omitempty"`
	Ended        events.Position   `cbor:"3,keyasint,omitempty" json:"ended,omitempty"` // first record that kept something, or skipped
	Kept         bool              `cbor:"4,keyasint,omitempty" json:"kept,omitempty"`
	Replaced     bool              `cbor:"5,keyasint,omitempty" json:"replaced,omitempty"`
	OpenRequests []events.ID       `cbor:"6,keyasint,omitempty" json:"wanted,omitempty"` // requests to forget of what it was asked about, open as it began

	// Where there are records of other machines: since which record Replaced is, and by which turn.
	Since   engine.Said     `cbor:"7,keyasint,omitzero" json:"since,omitzero"`
	SinceAt events.Position `cbor:"8,keyasint,omitempty" json:"since_at,omitempty"`
	By      events.ID       `cbor:"9,keyasint,omitzero" json:"by,omitzero"`
}

// inputState is an input as far as rows depend on it.
type inputState struct {
	Decided events.Position `cbor:"1,keyasint,omitempty" json:"decided,omitempty"` // by the latest turn that did
	Kept    events.Position `cbor:"2,keyasint,omitempty" json:"kept,omitempty"`    // by the latest turn that kept it
	Turns   []events.ID     `cbor:"3,keyasint,omitempty" json:"turns,omitempty"`   // that kept it, oldest first

	Forgotten bool `cbor:"4,keyasint,omitempty" json:"forgotten,omitempty"`
}

// request is an open request: the rows that it names, of whatever kind, whether they are there or not, and what may be made into rows.
type request struct {
	IDs       []events.ID       `cbor:"1,keyasint,omitempty" json:"ids"`
	Positions []events.Position `cbor:"2,keyasint,omitempty" json:"positions,omitempty"` // where rows come from turns
	Made      []events.ID       `cbor:"3,keyasint,omitempty" json:"made,omitempty"`      // rows that turns made of them since, and that are there
}

func requestTable() engine.Table[request] { return engine.Table[request]{Name: "requests"} }

// openRequests is the open requests that name a record.
type openRequests struct {
	Requests []events.ID `cbor:"1,keyasint,omitempty" json:"requests"`
}

func openRequestTable() engine.Table[openRequests] { return engine.Table[openRequests]{Name: "wanted"} }

// decision is what one record says of a row.
type decision struct {
	engine.Said
	Position events.Position `cbor:"4,keyasint,omitempty" json:"position"`

	Vouch     bool      `cbor:"5,keyasint,omitempty" json:"vouch,omitempty"`        // it is about whether a person vouches for the row; else about what takes its place
	Withdrawn bool      `cbor:"6,keyasint,omitempty" json:"withdrawn,omitempty"`    // of a vouch
	By        events.ID `cbor:"7,keyasint,omitzero" json:"by,omitzero"`             // as in MemorySuperseded
	Turn      bool      `cbor:"8,keyasint,omitempty" json:"turn,omitempty"`         // nobody decided: a later turn replaced the row's
	Asked     events.ID `cbor:"9,keyasint,omitzero" json:"forget_request,omitzero"` // it is a request to forget the row
}

// decided is all that was decided of an id.
type decided struct {
	All []decision `cbor:"1,keyasint,omitempty" json:"all"`
}

func decidedTable() engine.Table[decided] { return engine.Table[decided]{Name: "decided"} }

func newestTable() engine.Table[engine.Ref] { return engine.Table[engine.Ref]{Name: "newest"} }
