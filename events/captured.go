package events

// SessionOpened is the first sight of a session, or a new start of a known one.
type SessionOpened struct {
	Agent        string `cbor:"1,keyasint,omitempty" json:"agent"`                // claude-code, codex, ...
	AgentSession string `cbor:"2,keyasint,omitempty" json:"agent_session"`        // the agent's own session id
	Project      string `cbor:"3,keyasint,omitempty" json:"project"`              // shown name: base name of the root
	ProjectRoot  string `cbor:"4,keyasint,omitempty" json:"project_root"`         // what identifies the project: a folder shared by worktrees
	Cwd          string `cbor:"5,keyasint,omitempty" json:"cwd"`                  // absolute
	GitRoot      string `cbor:"6,keyasint,omitempty" json:"git_root,omitempty"`   // top level of the working tree, or empty
	GitBranch    string `cbor:"7,keyasint,omitempty" json:"git_branch,omitempty"` // empty when detached or no repository
	GitHead      string `cbor:"8,keyasint,omitempty" json:"git_head,omitempty"`   // full hash
	Source       string `cbor:"9,keyasint,omitempty" json:"source"`               // startup, resume, clear, compact, fork, sight, transcript, import
	Transcript   string `cbor:"10,keyasint,omitempty" json:"transcript,omitempty"`
	ProjectKey   string `cbor:"11,keyasint,omitempty" json:"project_key,omitempty"` // folders with the same one are one project; empty: ProjectRoot alone

	RootFile     string `cbor:"12,keyasint,omitempty" json:"root_file,omitempty"`     // what names ProjectRoot wherever it is moved to; empty: not known
	ProjectClaim string `cbor:"13,keyasint,omitempty" json:"project_claim,omitempty"` // the key that the folder claims. Where ProjectKey is another, it was not believed
}

// PromptSubmitted is what the user said. Machine-made prompts are not captured.
type PromptSubmitted struct {
	Number     int            `cbor:"1,keyasint,omitempty" json:"number"` // from 1 in a session
	Text       string         `cbor:"2,keyasint,omitempty" json:"text"`   // private text cut, secrets redacted, capped
	Private    bool           `cbor:"3,keyasint,omitempty" json:"private,omitempty"`
	Size       int            `cbor:"4,keyasint,omitempty" json:"size"` // bytes before any cut
	Redactions map[string]int `cbor:"5,keyasint,omitempty" json:"redactions,omitempty"`
}

// ToolUsed is one tool call that ended, well or not.
type ToolUsed struct {
	ToolUseID    string         `cbor:"1,keyasint,omitempty" json:"tool_use_id,omitempty"`
	Tool         string         `cbor:"2,keyasint,omitempty" json:"tool"`
	Input        string         `cbor:"3,keyasint,omitempty" json:"input"`  // JSON text as the agent gave it, capped
	Output       string         `cbor:"4,keyasint,omitempty" json:"output"` // JSON text or plain text, capped at head and tail
	Failed       bool           `cbor:"5,keyasint,omitempty" json:"failed,omitempty"`
	DurationMS   int64          `cbor:"6,keyasint,omitempty" json:"duration_ms,omitempty"`
	Cwd          string         `cbor:"7,keyasint,omitempty" json:"cwd,omitempty"`
	SubagentID   string         `cbor:"8,keyasint,omitempty" json:"subagent_id,omitempty"`
	SubagentType string         `cbor:"9,keyasint,omitempty" json:"subagent_type,omitempty"`
	InputSize    int            `cbor:"10,keyasint,omitempty" json:"input_size"`  // bytes before any cut
	OutputSize   int            `cbor:"11,keyasint,omitempty" json:"output_size"` // bytes before any cut
	Redactions   map[string]int `cbor:"12,keyasint,omitempty" json:"redactions,omitempty"`
	Prompt       int            `cbor:"13,keyasint,omitempty" json:"prompt,omitempty"`     // number of the prompt it served; 0 before the first
	Unobserved   string         `cbor:"14,keyasint,omitempty" json:"unobserved,omitempty"` // why no turn settles it: private, own, imported
	Refused      bool           `cbor:"15,keyasint,omitempty" json:"refused,omitempty"`    // the person refused it: it was never run, and its output says why
	Named        []string       `cbor:"16,keyasint,omitempty" json:"named,omitempty"`      // of a call of this memory's own: rows that it asks for, by ids, beginnings of ids or handles
}

// UnobservedImported marks a tool use that was imported: another memory has observed it. Unlike what is private or our own it
// keeps its input and output.
const UnobservedImported = "imported"

// AgentStopped is the end of one answer of the agent.
type AgentStopped struct {
	LastMessage string         `cbor:"1,keyasint,omitempty" json:"last_message"`
	Cause       StopCause      `cbor:"2,keyasint,omitempty" json:"cause"`
	Work        int            `cbor:"3,keyasint,omitempty" json:"work"` // inputs captured since the last stop; 0 and no words make it unobserved
	Prompt      int            `cbor:"4,keyasint,omitempty" json:"prompt,omitempty"`
	Error       string         `cbor:"5,keyasint,omitempty" json:"error,omitempty"` // the agent's error type, on failure
	Size        int            `cbor:"6,keyasint,omitempty" json:"size,omitempty"`  // bytes of the message before any cut
	Redactions  map[string]int `cbor:"7,keyasint,omitempty" json:"redactions,omitempty"`
}

// ContextCompacted is the agent's own summary of its conversation.
type ContextCompacted struct {
	Summary    string         `cbor:"1,keyasint,omitempty" json:"summary"`
	Trigger    string         `cbor:"2,keyasint,omitempty" json:"trigger,omitempty"` // manual, auto
	Size       int            `cbor:"3,keyasint,omitempty" json:"size,omitempty"`
	Redactions map[string]int `cbor:"4,keyasint,omitempty" json:"redactions,omitempty"`
	Prompt     int            `cbor:"5,keyasint,omitempty" json:"prompt,omitempty"`
}

// AgentSaid is what the agent said between two tool calls. What it said last stands in AgentStopped. No turn settles it: a turn
// over the inputs around it reads it.
type AgentSaid struct {
	Text       string         `cbor:"1,keyasint,omitempty" json:"text"` // private text cut, secrets redacted, capped
	Size       int            `cbor:"2,keyasint,omitempty" json:"size"` // bytes before any cut
	Redactions map[string]int `cbor:"3,keyasint,omitempty" json:"redactions,omitempty"`
	Prompt     int            `cbor:"4,keyasint,omitempty" json:"prompt,omitempty"` // number of the prompt it answers; 0 before the first
}

// PreferenceStated is a sentence in which the person says how to work. It stands in the prompt, or in the reason of the refused tool use,
// that is recorded just before it. No turn settles or reads it. Its record's id is that of the row of memory that it makes.
type PreferenceStated struct {
	Sentence  string `cbor:"1,keyasint,omitempty" json:"sentence"`              // as it was said, secrets redacted
	Same      Key    `cbor:"2,keyasint,omitzero" json:"same"`                   // of its words: what says the same has it too. It goes with the payload
	Prompt    int    `cbor:"3,keyasint,omitempty" json:"prompt,omitempty"`      // number of the prompt that it stands in, or that the tool use served
	ToolUseID string `cbor:"4,keyasint,omitempty" json:"tool_use_id,omitempty"` // of the refused tool use; empty: it stands in the prompt
}

// SessionClosed is the end of a session, reported or inferred.
type SessionClosed struct {
	Cause string `cbor:"1,keyasint,omitempty" json:"cause"` // the agent's reason, or silent
}

// ContextInjected is memory that was handed to an agent.
type ContextInjected struct {
	Hook       string `cbor:"1,keyasint,omitempty" json:"hook"` // startup, clear, compact, resume, prompt, file
	IDs        []ID   `cbor:"2,keyasint,omitempty" json:"ids"`
	Characters int    `cbor:"3,keyasint,omitempty" json:"characters"`
	Position   Moment `cbor:"4,keyasint,omitempty" json:"position"` // what the memory knew: the views' position, in this log
}
