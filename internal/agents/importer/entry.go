package importer

import (
	"errors"
	"fmt"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
)

// Kind says what an Entry is.
type Kind string

// The kinds of entry.
const (
	Session     Kind = "session"
	Prompt      Kind = "prompt"
	ToolUse     Kind = "tool_use"
	Observation Kind = "observation"
	Summary     Kind = "summary"
)

// Kinds lists the kinds in the order in which people see them. The slice is the caller's.
func Kinds() []Kind { return []Kind{Session, Prompt, ToolUse, Observation, Summary} }

// MaxLine is the longest Entry in bytes of JSON.
const MaxLine = 16 << 20

// Entry is one row of another memory. Fields that its kind does not have are zero.
type Entry struct {
	Kind Kind      `json:"kind"`
	Name string    `json:"name"` // of the row among those of its kind and session: with these it makes the key
	At   time.Time `json:"at"`

	Agent        string `json:"agent"`         // as hooks call it
	AgentSession string `json:"agent_session"` // the agent's own id of the session
	Project      string `json:"project,omitempty"`
	Folder       string `json:"folder,omitempty"` // absolute: where the project is; empty: not known

	Ended time.Time `json:"ended,omitzero"` // of a session; zero: it may go on

	Number int    `json:"number,omitempty"` // of a prompt: as that memory counts; of others: of the prompt that they serve
	Text   string `json:"text,omitempty"`   // of a prompt

	Tool         string `json:"tool,omitempty"` // this and the next five: of a tool use
	Input        string `json:"input,omitempty"`
	Output       string `json:"output,omitempty"`
	Cwd          string `json:"cwd,omitempty"`
	SubagentID   string `json:"subagent_id,omitempty"`
	SubagentType string `json:"subagent_type,omitempty"`

	Type      string   `json:"type,omitempty"` // this and the next six: of an observation
	Title     string   `json:"title,omitempty"`
	Subtitle  string   `json:"subtitle,omitempty"`
	Narrative string   `json:"narrative,omitempty"`
	Facts     []string `json:"facts,omitempty"`
	Concepts  []string `json:"concepts,omitempty"`
	Files     []string `json:"files,omitempty"`

	Request      string `json:"request,omitempty"` // this and the rest: of a summary
	Investigated string `json:"investigated,omitempty"`
	Learned      string `json:"learned,omitempty"`
	Completed    string `json:"completed,omitempty"`
	NextSteps    string `json:"next_steps,omitempty"`
	Notes        string `json:"notes,omitempty"`
}

// The reasons for which an entry is left out.
const (
	ReasonCaptured  = "captured here already" // prompts of a session that hooks or transcripts have captured
	ReasonEmpty     = "nothing in it"         // once private text, injected text and white space are gone
	ReasonMachine   = "no person said it"     // a prompt that the agent's program made
	ReasonEcho      = "memory that came back" // all of it was injected by cmemd
	ReasonPrivate   = "not to be recorded"    // by the rules of what is ignored, of tools and of agents
	ReasonNoTime    = "no time that makes sense"
	ReasonNoSession = "no session that it is of"
	ReasonLong      = "too long"
	ReasonDamaged   = "not what its column is for" // a value of another type
)

// ReasonShort is why an entry is not recorded whole.
const ReasonShort = "longer than is kept"

// ReasonCount counts what was left out, by reason.
type ReasonCount map[string]int

// Count adds n entries of a kind to those of a reason.
func Count(counts map[Kind]ReasonCount, kind Kind, reason string, n int) {
	if counts[kind] == nil {
		counts[kind] = ReasonCount{}
	}
	counts[kind][reason] += n
}

// Sources lists the memories that are imported from. The slice is the caller's.
func Sources() []string { return []string{ClaudeMem} }

// ClaudeMem is what imports from claude-mem name as their source.
const ClaudeMem = "claude-mem"

// KindOf returns the kind of entry that e was made of, or "" for what is no entry of its own.
func KindOf(e events.Event) Kind {
	switch events.KindOf(e) {
	case events.KindSessionOpened:
		return Session
	case events.KindPromptSubmitted:
		return Prompt
	case events.KindToolUsed:
		return ToolUse
	case events.KindObservationParsed:
		return Observation
	case events.KindSummaryParsed:
		return Summary
	}
	return ""
}

// ErrBad is an entry that no importer makes.
var ErrBad = errors.New("importer: not an entry")

// check refuses what would be recorded under no name, or at no time.
func (e *Entry) check() error {
	switch {
	case e.Agent == "" || e.AgentSession == "" || e.Name == "":
		return fmt.Errorf("%w: it names no agent, session or row", ErrBad)
	case !agents.IsClockTime(e.At):
		return fmt.Errorf("%w: its time is in %d", ErrBad, e.At.UTC().Year())
	}
	return nil
}
