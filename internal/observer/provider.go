package observer

import (
	"context"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer/evidence"
)

// Provider asks a model, or something that behaves like one, once. Complete may be called again with the same
// prompt and by several goroutines at once. A failure of the provider or of the turn is a *Failure; ctx.Err() is a
// stop; any other error, and a panic, is a crash and belongs to the supervisor.
type Provider interface {
	// Name is the provider's name in streams and settings: lowercase, without spaces.
	Name() string
	// Model names what answers, for records; it may be empty.
	Model() string
	// BatchLimits says when the provider wants to be asked.
	BatchLimits() policy.BatchLimits
	// Complete returns the whole output of one turn. Reply.Text is not judged here. What all its requests cost is in the
	// Reply or in the *Failure; beside any other error, in a Reply that has no Text.
	Complete(ctx context.Context, p Prompt) (Reply, error)
}

// Prompt is one turn's question. It stands alone: nothing of an earlier turn is needed to answer it.
type Prompt struct {
	Turn     events.ID
	Kind     events.TurnKind
	Attempt  int // from 1; higher ones are asked with less
	Budget   int // the most bytes of captured text (see Size) to send: an earlier turn was too long. 0: the provider's own
	Project  string
	Cwd      string
	Agent    string
	Request  string                     // the user's prompt that the work was for; may be empty
	Recent   []string                   // titles of the session's last observations, oldest first
	Inputs   []Input                    // what the turn settles, oldest first
	Requests []string                   // for a summary turn: what the user asked for in the session before Request, oldest first
	Observed []events.ObservationParsed // for a summary turn: what was observed of the session, oldest first
	Apart    int                        // how many of Observed, the first ones, do not follow each other: others between them are left out
	Reads    []events.Position          // where Said, Message, Requests and Observed are from
	Said     []Saying                   // what the agent said between the inputs, oldest first
	Message  string                     // the agent's last message, where it is known
	Stop     events.StopCause           // how the work ended; empty while it goes on
	Touched  []string                   // files that the session's last observations were about; never sent
	Root     string                     // of the project, as its sessions have it; never sent
	Undone   []events.Undone            // what the inputs undid of what was observed before; never sent
	Fetched  []events.Position          // the inputs that are of subagents which had read others' words before; never sent
	Later    []events.Position          // the tool uses that follow the inputs, where these are observed again; never sent
}

// Input is one captured event of a turn. NewInput makes it.
type Input struct {
	Position events.Position
	At       time.Time
	Event    events.Event // ToolUsed, ContextCompacted or AgentStopped; nil when its payload was erased
	Repeats  bool         // it only looked at something, as an earlier input of its session had, and saw the same

	call *evidence.Call
}

// NewInput returns the input of an event that happened at a time, and reads its tool call, if it is one.
func NewInput(position events.Position, at time.Time, e events.Event) Input {
	in := Input{Position: position, At: at, Event: e}
	in.call = in.Call()
	return in
}

// Call returns the tool call that a ToolUsed is; nil: the input is none. NewInput has read it: only of an Input that was made
// by hand each call reads it anew.
func (in Input) Call() *evidence.Call {
	if u, ok := in.Event.(events.ToolUsed); ok && in.call == nil {
		return evidence.Parse(u)
	}
	return in.call
}

// Saying is what the agent said between two tool calls.
type Saying struct {
	At   time.Time
	Text string
}

// Reply is what a provider answered.
type Reply struct {
	Text        events.Output
	Form        events.Form
	StopReason  string // the provider's own word
	events.Bill        // Calls is 0 where they were not counted: beside a Text it was one
}

// Failure is a typed failure: of the provider, or of this turn.
type Failure struct {
	Class       events.FailureClass
	Status      int           // HTTP status; 0: none
	ResetsAt    time.Time     // when the provider said it would answer again; zero: it did not
	Message     string        // for people, in words of ours: of a service's at most one that model.Word lets through, of a model's none
	Output      events.Output // what arrived before it failed
	Form        events.Form   // of Output; empty: XML
	events.Bill               // what was paid all the same, where the provider told it
	Err         error         // the cause; may be nil
}

func (f *Failure) Error() string {
	if f.Message != "" {
		return "observer: " + string(f.Class) + ": " + f.Message
	}
	return "observer: " + string(f.Class)
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Crash is the end of a provider's own process, or of what it stands on, in the middle of a turn: nobody failed the turn,
// somebody fell over. Any other error that is no *Failure counts as one too, but its words are not kept: they may hold
// anything.
type Crash struct {
	Message string // what ended, in the provider's own words: nothing of a prompt, an output or a key. It is kept
}

func (c *Crash) Error() string { return "observer: crashed: " + c.Message }

// Notable is how many of the inputs an observer should have something to say about: edits, commits and failed tests.
func (p Prompt) Notable() (n int) {
	for _, in := range p.Inputs {
		if c := in.Call(); c != nil && c.Notable() {
			n++
		}
	}
	return n
}

// Size is the bytes of captured text that p carries: what an answer costs grows with it.
func (p Prompt) Size() int {
	n := len(p.Request) + len(p.Message)
	for _, t := range p.Recent {
		n += len(t)
	}
	for _, s := range p.Said {
		n += len(s.Text)
	}
	for _, t := range p.Requests {
		n += len(t)
	}
	for _, in := range p.Inputs {
		switch e := in.Event.(type) {
		case events.ToolUsed:
			n += len(e.Tool) + len(e.Input) + len(e.Output)
		case events.ContextCompacted:
			n += len(e.Summary)
		}
	}
	for _, o := range p.Observed {
		n += len(o.Title) + len(o.Subtitle) + len(o.Narrative)
	}
	return n
}
