package replay

import (
	"encoding/json"

	"github.com/cmemd/cmemd/events"
)

// Scenario is a stretch of observer turns, with what the world would have done where the record cannot know.
type Scenario struct {
	ID         string            `json:"id"`
	Issue      string            `json:"issue,omitempty"` // where it was seen
	Title      string            `json:"title,omitempty"`
	Provenance string            `json:"provenance,omitempty"` // what of it is recorded and what is constructed
	Respawn    Respawn           `json:"respawn"`
	EndMS      int64             `json:"end_ms"`                 // when it ends, from its beginning; no opening later than this
	WedgedAtMS *int64            `json:"wedged_at_ms,omitempty"` // an observer started then or later says Event.Fresh instead
	Events     []Event           `json:"events"`
	Expect     map[string]Result `json:"expect,omitempty"` // by policy: what is known to be right
}

// Respawn is what the opening turn of a new observer is assumed to be.
type Respawn struct {
	DelayMS int64         `json:"delay_ms"` // after the respawn; sooner if an event comes sooner
	Output  events.Output `json:"output"`
	Tokens  Tokens        `json:"tokens"`
}

// AssumedRespawn is what is assumed where nothing else is said: what the openings of the one such program that is measured cost, and
// when they came. It said nothing in most of them.
func AssumedRespawn() Respawn {
	return Respawn{DelayMS: 2146, Tokens: Tokens{In: 5200, Out: 6}}
}

// Tokens is what one call cost.
type Tokens struct {
	In  int64 `json:"in"`
	Out int64 `json:"out"`
}

// The kinds of an Event.
const (
	KindObservation = "observation" // a turn that asked for observations
	KindSummary     = "summary"     // a turn that asked for a summary
	KindExit        = "exit"        // the observer ended without an answer
)

// Event is one recorded turn, or one end of an observer.
type Event struct {
	AtMS     int64         `json:"at_ms"` // from the beginning, ascending
	Kind     string        `json:"kind"`
	Batch    int           `json:"batch,omitempty"` // inputs that it settles and no earlier event did
	Output   events.Output `json:"output"`
	Tokens   Tokens        `json:"tokens"`
	Provider *Failure      `json:"provider,omitempty"` // what the transport said; nil: that all is well
	Commits  []Commit      `json:"commits,omitempty"`  // that the output names
	Fresh    *Fresh        `json:"fresh,omitempty"`    // what an observer started at or after WedgedAtMS says instead

	// The fields below are there where the stretch was taken from a log.
	TookMS   int64             `json:"took_ms,omitempty"`  // how long before AtMS the turn began: what was known then let it begin
	Session  string            `json:"session,omitempty"`  // events of one session are ruled together; empty: one session
	Observer string            `json:"observer,omitempty"` // the provider that was asked; a hold of it holds all its sessions
	Turn     string            `json:"turn,omitempty"`
	Position uint64            `json:"position,omitempty"` // of the record that ended the turn
	Inputs   []json.RawMessage `json:"inputs,omitempty"`   // what it was about, where that was asked for
	Form     events.Form       `json:"form,omitempty"`     // of Output; empty: XML
}

// Fresh is another answer to a turn, and what it cost.
type Fresh struct {
	Output events.Output `json:"output"`
	Tokens Tokens        `json:"tokens"`
}

// Failure is what a transport said of a turn that failed.
type Failure struct {
	IsError  bool   `json:"is_error"`
	Code     string `json:"code,omitempty"`         // the client's own word, or a failure class of events
	ResetsMS int64  `json:"resets_at_ms,omitempty"` // when it said it would answer again, from the beginning; 0: it did not
}

// Commit is a hash that an output names, and whether the repository had it.
type Commit struct {
	Hash   string `json:"hash"`
	Exists bool   `json:"exists"`
}
