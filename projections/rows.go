package projections

import (
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/health"
	"github.com/cmemd/cmemd/projections/turn"
)

// For those who build another index over the same log: Follow hands out the log's records in slices, as they come.
// Apply ObservationParsed, SummaryParsed, MemorySaved and PromptSubmitted under the ids that Row has (a prompt's is its
// record's own id), keep what SessionOpened said of each session, treat an erased payload as absent, and remove what
// MemoryForgotten names by id and by position. Which rows are folded, superseded or forgotten is decided here alone:
// ask Views.Rows for the hits, and keep those that are Listed.

// Kind says what a Row is. It is the kind of memory, not of an event.
type Kind string

// The kinds of row.
const (
	Observation Kind = "observation"
	Summary     Kind = "summary"
	Memory      Kind = "memory" // saved by a person or an agent
	Prompt      Kind = "prompt"
)

// Row is one piece of memory of any kind. Fields that its kind does not have are zero. A Row is the caller's.
type Row struct {
	ID           events.ID        `cbor:"1,keyasint,omitzero" json:"id"`
	Kind         Kind             `cbor:"2,keyasint,omitempty" json:"kind"` // empty: unknown id, or forgotten
	Position     events.Position  `cbor:"3,keyasint,omitempty" json:"position"`
	At           time.Time        `cbor:"4,keyasint,omitzero" json:"at"` // when it happened; of a saved memory: when it was true
	Session      events.SessionID `cbor:"5,keyasint,omitzero" json:"session,omitzero"`
	Agent        string           `cbor:"6,keyasint,omitempty" json:"agent,omitempty"`
	AgentSession string           `cbor:"7,keyasint,omitempty" json:"agent_session,omitempty"`
	Project      string           `cbor:"8,keyasint,omitempty" json:"project"`
	ProjectRoot  string           `cbor:"9,keyasint,omitempty" json:"project_root,omitempty"`
	Prompt       int              `cbor:"10,keyasint,omitempty" json:"prompt,omitempty"` // number of the user's prompt in the session

	Type            string   `cbor:"11,keyasint,omitempty" json:"type,omitempty"`
	TypeGiven       string   `cbor:"12,keyasint,omitempty" json:"type_given,omitempty"` // the model's word where Type is unknown
	Title           string   `cbor:"13,keyasint,omitempty" json:"title,omitempty"`
	Subtitle        string   `cbor:"14,keyasint,omitempty" json:"subtitle,omitempty"`
	Narrative       string   `cbor:"15,keyasint,omitempty" json:"narrative,omitempty"` // of an observation
	Text            string   `cbor:"16,keyasint,omitempty" json:"text,omitempty"`      // of a memory or a prompt
	Facts           []string `cbor:"17,keyasint,omitempty" json:"facts,omitempty"`
	Concepts        []string `cbor:"18,keyasint,omitempty" json:"concepts,omitempty"`
	FilesRead       []string `cbor:"19,keyasint,omitempty" json:"files_read,omitempty"`
	FilesModified   []string `cbor:"20,keyasint,omitempty" json:"files_modified,omitempty"`
	FilesUnverified []string `cbor:"21,keyasint,omitempty" json:"files_unverified,omitempty"` // claimed, not seen; of a memory: as the saver says

	Request      string `cbor:"22,keyasint,omitempty" json:"request,omitempty"` // this and the next five: of a summary
	Investigated string `cbor:"23,keyasint,omitempty" json:"investigated,omitempty"`
	Learned      string `cbor:"24,keyasint,omitempty" json:"learned,omitempty"`
	Completed    string `cbor:"25,keyasint,omitempty" json:"completed,omitempty"`
	NextSteps    string `cbor:"26,keyasint,omitempty" json:"next_steps,omitempty"`
	Notes        string `cbor:"27,keyasint,omitempty" json:"notes,omitempty"`

	Claims []events.Claim `cbor:"28,keyasint,omitempty" json:"claims,omitempty"` // as found when the output arrived
	Checks []Check        `cbor:"29,keyasint,omitempty" json:"checks,omitempty"` // later looks, oldest first
	Unseen bool           `cbor:"30,keyasint,omitempty" json:"unseen,omitempty"` // names files, none of which the session touched

	// Flagged: Unseen, or a claim that is absent and was never verified. Marked wherever it is shown, never injected.
	Flagged bool `cbor:"31,keyasint,omitempty" json:"flagged,omitempty"`

	Turn  events.ID   `cbor:"32,keyasint,omitzero" json:"turn,omitzero"`    // that led to it; zero: none
	Turns []events.ID `cbor:"33,keyasint,omitempty" json:"turns,omitempty"` // of all that are folded into it, its own first
	Count int         `cbor:"34,keyasint,omitempty" json:"count,omitempty"` // how often it was said; 0 for what is folded away

	FoldedInto   events.ID `cbor:"35,keyasint,omitzero" json:"folded_into,omitzero"` // the row that stands for all that say the same
	Superseded   bool      `cbor:"36,keyasint,omitempty" json:"superseded,omitempty"`
	SupersededBy events.ID `cbor:"37,keyasint,omitzero" json:"superseded_by,omitzero"` // the memory, or the turn whose rows, took its place
	Forgotten    bool      `cbor:"38,keyasint,omitempty" json:"forgotten,omitempty"`   // only ID, Position and At (of the forgetting) are left
	Private      bool      `cbor:"39,keyasint,omitempty" json:"private,omitempty"`     // a prompt that was private: no text
	Source       string    `cbor:"47,keyasint,omitempty" json:"source,omitempty"`      // of an imported observation or summary: the memory that it comes from
	ByHand       bool      `cbor:"45,keyasint,omitempty" json:"by_hand,omitempty"`     // a person superseded it: by a memory, or by itself where it was only taken back

	Stands []Stand `cbor:"46,keyasint,omitempty" json:"stands,omitempty"` // how Superseded, SupersededBy and ByHand came about, oldest first
}

// Stand says that from a record on a row was superseded, or stood again.
type Stand struct {
	Position events.Position `cbor:"1,keyasint,omitempty" json:"position"`
	By       events.ID       `cbor:"2,keyasint,omitzero" json:"by,omitzero"` // as SupersededBy; zero: it stood again
	ByHand   bool            `cbor:"3,keyasint,omitempty" json:"by_hand,omitempty"`
}

// Check is a later look at one of a row's claims.
type Check struct {
	At       time.Time       `cbor:"1,keyasint,omitzero" json:"at"`
	Claim    events.Claim    `cbor:"2,keyasint,omitzero" json:"claim"`
	Position events.Position `cbor:"3,keyasint,omitempty" json:"position"` // of the record that says so
}

// What is what a row is called in a word wherever one is shown: an observation by its type, anything else by its kind.
func (r Row) What() string { return What(r.Kind, r.Type) }

// What is Row.What for a row of a kind and a type.
func What(k Kind, typ string) string {
	if k == Observation && typ != "" {
		return typ
	}
	return string(k)
}

// Listed reports whether the row belongs in lists and answers: it exists and is not folded into another, superseded,
// forgotten, or private.
func (r Row) Listed() bool {
	return r.Kind != "" && r.FoldedInto == (events.ID{}) && !r.Superseded && !r.Forgotten && !r.Private
}

// Session is one session as its events tell it.
type Session struct {
	ID           events.SessionID `cbor:"1,keyasint,omitzero" json:"id"`
	Agent        string           `cbor:"2,keyasint,omitempty" json:"agent"`
	AgentSession string           `cbor:"3,keyasint,omitempty" json:"agent_session"`
	Project      string           `cbor:"4,keyasint,omitempty" json:"project"`
	ProjectRoot  string           `cbor:"5,keyasint,omitempty" json:"project_root,omitempty"`
	Cwd          string           `cbor:"6,keyasint,omitempty" json:"cwd,omitempty"`
	GitRoot      string           `cbor:"7,keyasint,omitempty" json:"git_root,omitempty"`
	GitBranch    string           `cbor:"8,keyasint,omitempty" json:"git_branch,omitempty"`
	GitHead      string           `cbor:"9,keyasint,omitempty" json:"git_head,omitempty"`
	Source       string           `cbor:"10,keyasint,omitempty" json:"source,omitempty"` // of its latest start
	Transcript   string           `cbor:"11,keyasint,omitempty" json:"transcript,omitempty"`

	First      events.Position `cbor:"12,keyasint,omitempty" json:"first"` // its first record
	Last       events.Position `cbor:"13,keyasint,omitempty" json:"last"`
	OpenedAt   time.Time       `cbor:"14,keyasint,omitzero" json:"opened_at,omitzero"` // its first event
	LastAt     time.Time       `cbor:"15,keyasint,omitzero" json:"last_at,omitzero"`   // its latest captured event
	ClosedAt   time.Time       `cbor:"16,keyasint,omitzero" json:"closed_at,omitzero"` // zero: open
	CloseCause string          `cbor:"17,keyasint,omitempty" json:"close_cause,omitempty"`

	Prompts      int `cbor:"18,keyasint,omitempty" json:"prompts"`
	ToolUses     int `cbor:"19,keyasint,omitempty" json:"tool_uses"`
	Stops        int `cbor:"20,keyasint,omitempty" json:"stops"`
	Compactions  int `cbor:"21,keyasint,omitempty" json:"compactions,omitempty"`
	Injections   int `cbor:"22,keyasint,omitempty" json:"injections,omitempty"`
	Turns        int `cbor:"23,keyasint,omitempty" json:"turns"`
	FailedTurns  int `cbor:"24,keyasint,omitempty" json:"failed_turns,omitempty"`
	Observations int `cbor:"25,keyasint,omitempty" json:"observations"` // as parsed: folded and superseded ones included
	Summaries    int `cbor:"26,keyasint,omitempty" json:"summaries"`

	Generation  int                `cbor:"27,keyasint,omitempty" json:"generation,omitempty"` // of the observer, after the latest respawn
	Quarantined *health.Quarantine `cbor:"28,keyasint,omitempty" json:"quarantined,omitempty"`

	Respawns    map[string]int64 `cbor:"29,keyasint,omitempty" json:"respawns,omitempty"` // of the observer, by cause
	LastRespawn *health.Respawn  `cbor:"30,keyasint,omitempty" json:"last_respawn,omitempty"`

	Title   string  `cbor:"-" json:"title,omitempty"` // its first words: the first prompt that is not private; filled when read
	Pending int     `cbor:"-" json:"pending"`         // inputs that still await an outcome; filled when read
	Inputs  Balance `cbor:"-" json:"inputs"`          // filled by Views.Session, not by Views.Sessions
}

// Open reports whether the session has not been closed.
func (s Session) Open() bool { return s.ClosedAt.IsZero() }

// SessionFilter chooses sessions. The zero value chooses all.
type SessionFilter struct {
	ProjectRoot string
	Agent       string
	Since       time.Time // with a captured event at or after it
	OpenOnly    bool
	Match       func(Session) bool // as its own events tell it, without what is counted; it must not ask the views. nil: every session
	Limit       int                // 0 means 100
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

// OutcomeFilter chooses inputs. The zero value chooses all.
type OutcomeFilter struct {
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

// Balance says what became of all inputs. Captured is always the sum of the other five numbers.
type Balance struct {
	Captured  int `json:"captured"`
	Observed  int `json:"observed"`
	Skipped   int `json:"skipped"`
	Dropped   int `json:"dropped"`
	Pending   int `json:"pending"`
	Forgotten int `json:"forgotten"`

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

// Turn is one request to the observer and what came of it.
type Turn struct {
	ID          events.ID         `cbor:"1,keyasint,omitzero" json:"turn"`
	Session     events.SessionID  `cbor:"2,keyasint,omitzero" json:"session"`
	Kind        events.TurnKind   `cbor:"3,keyasint,omitempty" json:"kind"`
	Generation  int               `cbor:"4,keyasint,omitempty" json:"generation"`
	Provider    string            `cbor:"5,keyasint,omitempty" json:"provider"`
	Model       string            `cbor:"6,keyasint,omitempty" json:"model,omitempty"`
	Settles     []events.Position `cbor:"7,keyasint,omitempty" json:"settles"`
	Reads       []events.Position `cbor:"8,keyasint,omitempty" json:"reads,omitempty"`
	PromptBytes int               `cbor:"9,keyasint,omitempty" json:"prompt_bytes"`
	Attempt     int               `cbor:"10,keyasint,omitempty" json:"attempt"`
	Probe       bool              `cbor:"11,keyasint,omitempty" json:"probe,omitempty"`
	Prompt      int               `cbor:"12,keyasint,omitempty" json:"prompt,omitempty"`

	Started   events.Position `cbor:"13,keyasint,omitempty" json:"started"`
	StartedAt time.Time       `cbor:"14,keyasint,omitzero" json:"started_at"`
	Ended     events.Position `cbor:"15,keyasint,omitempty" json:"ended,omitempty"` // TurnReceived or TurnFailed; 0: running
	EndedAt   time.Time       `cbor:"16,keyasint,omitzero" json:"ended_at,omitzero"`
	Result    turn.Result     `cbor:"17,keyasint,omitempty" json:"result"`

	Form       events.Form  `cbor:"18,keyasint,omitempty" json:"form,omitempty"`
	StopReason string       `cbor:"19,keyasint,omitempty" json:"stop_reason,omitempty"`
	Usage      events.Usage `cbor:"20,keyasint,omitzero" json:"usage"`
	LatencyMS  int64        `cbor:"21,keyasint,omitempty" json:"latency_ms,omitempty"`

	Class   string              `cbor:"22,keyasint,omitempty" json:"class,omitempty"`  // of a dropped output
	Reason  string              `cbor:"23,keyasint,omitempty" json:"reason,omitempty"` // why it was skipped or dropped
	Stated  events.Output       `cbor:"24,keyasint,omitzero" json:"stated,omitzero"`   // the model's own reason to skip
	Preview events.Output       `cbor:"25,keyasint,omitzero" json:"preview,omitzero"`  // of a dropped output
	Failure events.FailureClass `cbor:"26,keyasint,omitempty" json:"failure,omitempty"`
	Status  int                 `cbor:"27,keyasint,omitempty" json:"status,omitempty"`
	Message string              `cbor:"28,keyasint,omitempty" json:"message,omitempty"`

	Rows   []events.ID       `cbor:"29,keyasint,omitempty" json:"rows,omitempty"` // observations and summaries it led to
	RowsAt []events.Position `cbor:"30,keyasint,omitempty" json:"rows_at,omitempty"`

	Instead  []string `cbor:"31,keyasint,omitempty" json:"instead,omitempty"`  // providers before it that were passed over
	Answered string   `cbor:"32,keyasint,omitempty" json:"answered,omitempty"` // the model that answered, where it is not Model
	Cost     float64  `cbor:"33,keyasint,omitempty" json:"cost,omitempty"`     // US dollars, as the provider says; 0: it did not
	Calls    int      `cbor:"34,keyasint,omitempty" json:"calls,omitempty"`    // requests sent; 0: not counted

	Told     bool         `cbor:"35,keyasint,omitempty" json:"told,omitempty"`   // the provider stated Cost, also where it is 0
	Unstated events.Usage `cbor:"36,keyasint,omitzero" json:"unstated,omitzero"` // of Usage, that of requests which Cost says nothing of
	Sent     int64        `cbor:"37,keyasint,omitempty" json:"sent,omitempty"`   // bytes of the questions as they went out; 0: not counted, or nothing did
	Left     bool         `cbor:"38,keyasint,omitempty" json:"-"`                // its end was forgotten, and what it cost is told by what says so
}

// Bill returns what the turn cost.
func (t Turn) Bill() events.Bill {
	return events.Bill{
		Usage: t.Usage, Model: t.Answered, Cost: t.Cost, Told: t.Told, Unstated: t.Unstated, Calls: t.Calls, Sent: t.Sent,
	}
}

// pay takes over what the turn cost.
func (t *Turn) pay(b events.Bill) {
	t.Usage, t.Answered, t.Cost, t.Told, t.Unstated, t.Calls, t.Sent = b.Usage, b.Model, b.Cost, b.Told, b.Unstated, b.Calls, b.Sent
}

// Injection is memory that an agent was given.
type Injection struct {
	Session    events.SessionID `cbor:"1,keyasint,omitzero" json:"session"`
	Position   events.Position  `cbor:"2,keyasint,omitempty" json:"position"`
	At         time.Time        `cbor:"3,keyasint,omitzero" json:"at"`
	Hook       string           `cbor:"4,keyasint,omitempty" json:"hook"`
	IDs        []events.ID      `cbor:"5,keyasint,omitempty" json:"ids,omitempty"`
	Characters int              `cbor:"6,keyasint,omitempty" json:"characters"`
	Knew       events.Position  `cbor:"7,keyasint,omitempty" json:"knew,omitempty"` // position of the views it was chosen from
}

// FileFilter chooses files. Path matches a file whose path is it, starts with it and a slash, or ends with a slash and
// it; empty matches all.
type FileFilter struct {
	ProjectRoot  string // empty: all projects
	Path         string
	ModifiedOnly bool
	Limit        int // files; 0 means 50
	Touches      int // newest touches a file; 0 means 10
}

// File is one file of a project and the latest that touched it, newest first.
type File struct {
	Path        string    `json:"path"` // relative to the project where it lies in it, with slashes
	ProjectRoot string    `json:"project_root,omitempty"`
	LastAt      time.Time `json:"last_at"`
	Touches     []Touch   `json:"touches"`
}

// Touch is one observation or tool use that read or changed a file.
type Touch struct {
	Position events.Position  `cbor:"1,keyasint,omitempty" json:"position"`
	At       time.Time        `cbor:"2,keyasint,omitzero" json:"at"`
	Session  events.SessionID `cbor:"3,keyasint,omitzero" json:"session,omitzero"`
	ID       events.ID        `cbor:"4,keyasint,omitzero" json:"id,omitzero"`      // of the observation; zero: a tool use
	Tool     string           `cbor:"5,keyasint,omitempty" json:"tool,omitempty"`  // of a tool use
	Modified bool             `cbor:"6,keyasint,omitempty" json:"modified"`        // false: read
	Failed   bool             `cbor:"7,keyasint,omitempty" json:"failed,omitzero"` // the tool use failed: it changed nothing
}
