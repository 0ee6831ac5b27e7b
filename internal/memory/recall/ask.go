package recall

import (
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
)

// DefaultCharacters is how long injected memory is at most, the fence included; MaxCharacters is the most that may be
// asked for: agents put a longer text into a file and show its beginning.
const DefaultCharacters = 9500

const MaxCharacters = 10_000

// The sources of an Ask that are no start of a session. They are the hooks of an injection, too.
const (
	SourcePrompt = "prompt" // the user has said something
	SourceFile   = "file"   // a file is about to be read
)

// Ask is what a hook wants to tell an agent.
type Ask struct {
	ProjectRoot string // or Project; both empty: nothing is said
	Project     string // shown name
	ProjectKey  string // what identifies the project; empty: as the sessions in ProjectRoot said
	Session     events.SessionID
	Source      string // startup, clear, compact, resume, SourcePrompt, SourceFile; anything else is a startup

	Prompt  string    // with SourcePrompt: what the user said
	Score   int       // with SourcePrompt: how much a row must have of it, by its telling words. 0 means DefaultPromptScore
	File    string    // with SourceFile: the file, absolute or relative to the project
	Changed time.Time // with SourceFile: when the file was changed last; what is older says nothing of it. Zero: not known

	Characters int       // at most; 0 means the Recall's, more than MaxCharacters means that
	Tokens     int       // at most, as Tokens estimates them; 0 means the Recall's
	Now        time.Time // of the hook; rows are dated in its zone
	Explain    bool      // fill in Context.Explain

	// Exists reports whether a file, absolute or relative to the project, is in the working tree. It must be quick; it is
	// asked at most 400 times. nil: nobody knows
	Exists func(file string) bool
}

// Context is memory for an agent.
type Context struct {
	Text       string          `json:"text"`              // fenced; empty if there is nothing to say
	IDs        []events.ID     `json:"ids"`               // of the rows in it, in its order; never nil
	Characters int             `json:"characters"`        // of the text, in UTF-16 code units
	Tokens     int             `json:"tokens"`            // of the text, as Tokens estimates them
	Position   events.Position `json:"position"`          // what it knew
	Explain    []Choice        `json:"explain,omitempty"` // the rows that might have been injected and the newest others, the heaviest for their length first; empty unless asked for
}

// Choice says what became of a row that might have been injected.
type Choice struct {
	ID         events.ID   `json:"id"`
	Handle     rows.Handle `json:"handle,omitzero"`
	Kind       rows.Kind   `json:"kind"`
	Type       string      `json:"type,omitempty"`
	Title      string      `json:"title"`
	At         time.Time   `json:"at"`
	Chosen     bool        `json:"chosen"`
	Why        string      `json:"why"`             // in a few words
	Weight     float64     `json:"worth"`           // the product of the parts
	Parts      []Part      `json:"parts,omitempty"` // of its weight; none for what is not injected at all
	Characters int         `json:"characters"`
	Density    float64     `json:"density"` // weight a thousand characters: by it the choice is made; 0: first of all
}

// Part is a factor of a row's weight.
type Part struct {
	Name   string  `json:"name"`
	Factor float64 `json:"factor"`
}

// Why a row is in a context, or is not.
const (
	WhyWeight = "worth its length"
	WhyRoom   = "no room"
)
