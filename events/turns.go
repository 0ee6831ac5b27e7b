package events

import "time"

// TurnStarted is a request that is about to be made. Its header's correlation is the turn.
type TurnStarted struct {
	Turn        ID         `cbor:"1,keyasint,omitzero" json:"turn"`
	TurnKind    TurnKind   `cbor:"2,keyasint,omitempty" json:"turn_kind"`
	Generation  int        `cbor:"3,keyasint,omitempty" json:"generation"`
	Provider    string     `cbor:"4,keyasint,omitempty" json:"provider"`
	Model       string     `cbor:"5,keyasint,omitempty" json:"model,omitempty"`
	Settles     []Position `cbor:"6,keyasint,omitempty" json:"settles"`
	Reads       []Position `cbor:"7,keyasint,omitempty" json:"reads,omitempty"`
	PromptBytes int        `cbor:"8,keyasint,omitempty" json:"prompt_bytes"`
	Attempt     int        `cbor:"9,keyasint,omitempty" json:"attempt"`            // from 1
	Probe       bool       `cbor:"10,keyasint,omitempty" json:"probe,omitempty"`   // the one turn that may release a quarantine
	Prompt      int        `cbor:"11,keyasint,omitempty" json:"prompt,omitempty"`  // number of the user's prompt it is about
	Notable     int        `cbor:"12,keyasint,omitempty" json:"notable,omitempty"` // settled inputs that were an edit, a commit or a failed test
	Instead     []string   `cbor:"13,keyasint,omitempty" json:"instead,omitempty"` // providers that stood before it in the order of the settings and were passed over
}

// Form is how an output was given.
type Form string

// The forms.
const (
	FormXML        Form = "xml"
	FormStructured Form = "structured"
)

// Usage counts tokens. Zero means that the provider did not say.
type Usage struct {
	Input  int64 `cbor:"1,keyasint,omitempty" json:"input"`
	Cached int64 `cbor:"2,keyasint,omitempty" json:"cached,omitempty"` // of Input, read from a cache
	Output int64 `cbor:"3,keyasint,omitempty" json:"output"`
}

// TurnReceived is an output that arrived, whole. It is appended together with what it led to. Usage, Cost, Calls and SentBytes
// are those of all requests that were sent for it, the failed ones among them; Bill reads them.
type TurnReceived struct {
	Turn       ID     `cbor:"1,keyasint,omitzero" json:"turn"`
	Form       Form   `cbor:"2,keyasint,omitempty" json:"form"`
	Output     Output `cbor:"3,keyasint,omitzero" json:"output"` // raw
	StopReason string `cbor:"4,keyasint,omitempty" json:"stop_reason,omitempty"`
	Usage      Usage  `cbor:"5,keyasint,omitzero" json:"usage"`
	LatencyMS  int64  `cbor:"6,keyasint,omitempty" json:"latency_ms"`

	Model string  `cbor:"7,keyasint,omitempty" json:"model,omitempty"` // what answered, where it says so and it is not TurnStarted's
	Cost  float64 `cbor:"8,keyasint,omitempty" json:"cost,omitempty"`  // US dollars, as the provider states it; 0: it did not say, or see CostStated
	Calls int     `cbor:"9,keyasint,omitempty" json:"calls,omitempty"` // requests sent; 0: written before they were counted, taken as 1

	CostStated bool  `cbor:"10,keyasint,omitempty" json:"told,omitempty"`   // the provider stated Cost, also where it is 0
	Uncosted   Usage `cbor:"11,keyasint,omitzero" json:"unstated,omitzero"` // of Usage, that of requests which Cost says nothing of
	SentBytes  int64 `cbor:"12,keyasint,omitempty" json:"sent,omitempty"`   // bytes of the questions as they went out; 0: not counted, or nothing did
}

// TurnFailed is a turn that ended without an output that may be judged. What it used is paid for all the same.
type TurnFailed struct {
	Turn     ID           `cbor:"1,keyasint,omitzero" json:"turn"`
	Class    FailureClass `cbor:"2,keyasint,omitempty" json:"class"`
	Status   int          `cbor:"3,keyasint,omitempty" json:"status,omitempty"`  // HTTP status, if there was one
	ResetsAt time.Time    `cbor:"4,keyasint,omitzero" json:"resets_at,omitzero"` // when the provider said it would answer again
	Message  string       `cbor:"5,keyasint,omitempty" json:"message,omitempty"` // for people, in words of ours alone, so that it is no Output
	Output   Output       `cbor:"6,keyasint,omitzero" json:"output,omitzero"`    // raw, if any arrived
	Provider string       `cbor:"7,keyasint,omitempty" json:"provider,omitempty"`
	Clean    bool         `cbor:"8,keyasint,omitempty" json:"clean,omitempty"`  // interrupted by an orderly stop: blames nobody
	Halved   int          `cbor:"9,keyasint,omitempty" json:"halved,omitempty"` // the most inputs the next turn over these may settle; 0: unchanged

	Usage Usage   `cbor:"10,keyasint,omitzero" json:"usage,omitzero"`   // of all its requests, as far as they said
	Model string  `cbor:"11,keyasint,omitempty" json:"model,omitempty"` // what answered, where it says so and it is not TurnStarted's
	Cost  float64 `cbor:"12,keyasint,omitempty" json:"cost,omitempty"`  // US dollars, as the provider states it; 0: it did not say, or see CostStated
	Calls int     `cbor:"13,keyasint,omitempty" json:"calls,omitempty"` // requests sent; 0: none, or written before they were counted

	CostStated bool  `cbor:"14,keyasint,omitempty" json:"told,omitempty"`   // the provider stated Cost, also where it is 0
	Uncosted   Usage `cbor:"15,keyasint,omitzero" json:"unstated,omitzero"` // of Usage, that of requests which Cost says nothing of
	SentBytes  int64 `cbor:"16,keyasint,omitempty" json:"sent,omitempty"`   // bytes of the questions as they went out; 0: not counted, or nothing did
	Form       Form  `cbor:"17,keyasint,omitempty" json:"form,omitempty"`   // of Output; empty: there is none, or it was written before it was kept

	// Of a class that blames the turn.
	Answered Position `cbor:"18,keyasint,omitempty" json:"answered,omitempty"` // of the provider's last output known when the turn was let in; 0: none
	Spared   bool     `cbor:"19,keyasint,omitempty" json:"spared,omitempty"`   // its input is not given up: the provider answered nothing since it first failed it
}

// OutputDropped is an output that did not parse. The inputs its turn settled are dropped: kept, counted, re-observable.
type OutputDropped struct {
	Turn    ID     `cbor:"1,keyasint,omitzero" json:"turn"`
	Class   string `cbor:"2,keyasint,omitempty" json:"class"`  // idle, xml, prose
	Reason  string `cbor:"3,keyasint,omitempty" json:"reason"` // no_xml, missing_summary, malformed
	Preview Output `cbor:"4,keyasint,omitzero" json:"preview"` // at most 200 characters
	Length  int    `cbor:"5,keyasint,omitempty" json:"length"` // bytes of the output
}

// Blank reports whether there was nothing in the output. It is no sign of anything, and is not counted against anybody.
func (d OutputDropped) Blank() bool { return d.Class == classIdle }

// classIdle is the class of an output that is blank, or nothing but reasoning.
const classIdle = "idle"

// OutputSkipped is an output that says that nothing was worth recording.
type OutputSkipped struct {
	Turn   ID     `cbor:"1,keyasint,omitzero" json:"turn"`
	Reason string `cbor:"2,keyasint,omitempty" json:"reason"`         // empty, skip_summary
	Stated Output `cbor:"3,keyasint,omitzero" json:"stated,omitzero"` // the model's own words
}

// Claim is a checkable statement found in an output.
type Claim struct {
	Kind     string  `cbor:"1,keyasint,omitempty" json:"kind"`  // commit
	Value    string  `cbor:"2,keyasint,omitempty" json:"value"` // the hash as written
	Verdict  Verdict `cbor:"3,keyasint,omitempty" json:"verdict"`
	Evidence string  `cbor:"4,keyasint,omitempty" json:"evidence,omitempty"` // why: the full hash, no repository, ambiguous, ...
}

// ObservationParsed is one observation that was kept.
type ObservationParsed struct {
	Observation     ID       `cbor:"1,keyasint,omitzero" json:"id"`
	Turn            ID       `cbor:"2,keyasint,omitzero" json:"turn"`
	Type            string   `cbor:"3,keyasint,omitempty" json:"type"`
	TypeGiven       string   `cbor:"4,keyasint,omitempty" json:"type_given,omitempty"` // the model's word where Type is unknown
	Title           string   `cbor:"5,keyasint,omitempty" json:"title"`
	Subtitle        string   `cbor:"6,keyasint,omitempty" json:"subtitle,omitempty"`
	Narrative       string   `cbor:"7,keyasint,omitempty" json:"narrative,omitempty"`
	Facts           []string `cbor:"8,keyasint,omitempty" json:"facts,omitempty"`
	Concepts        []string `cbor:"9,keyasint,omitempty" json:"concepts,omitempty"`
	FilesRead       []string `cbor:"10,keyasint,omitempty" json:"files_read,omitempty"`
	FilesModified   []string `cbor:"11,keyasint,omitempty" json:"files_modified,omitempty"`   // from evidence only
	FilesUnverified []string `cbor:"12,keyasint,omitempty" json:"files_unverified,omitempty"` // claimed, not seen
	Claims          []Claim  `cbor:"13,keyasint,omitempty" json:"claims,omitempty"`
	Prompt          int      `cbor:"14,keyasint,omitempty" json:"prompt,omitempty"`
	Unseen          bool     `cbor:"15,keyasint,omitempty" json:"unseen,omitempty"` // names files, none of which the session touched, or lists one that nobody did
	Source          string   `cbor:"16,keyasint,omitempty" json:"source,omitempty"` // of one that no turn of ours made: the memory that it was imported from

	Origin      Origin     `cbor:"17,keyasint,omitempty" json:"origin,omitempty"`
	Outside     []Position `cbor:"18,keyasint,omitempty" json:"outside,omitempty"`     // the inputs for which Origin is OriginOutside
	Unsupported bool       `cbor:"19,keyasint,omitempty" json:"unsupported,omitempty"` // a decision that no prompt, reply or tool use bears out
}

// Texts are what the observation says in sentences, in the order in which it is read. Texts that it does not have are empty.
func (e ObservationParsed) Texts() []string {
	return append([]string{e.Title, e.Subtitle, e.Narrative}, e.Facts...)
}

// AskedPerson begins a line of a summary's next steps that quotes what the agent asked the person last, and that the person's next prompt
// answers.
const AskedPerson = "Asked the person: "

// SummaryParsed is one summary that was kept.
type SummaryParsed struct {
	Summary      ID      `cbor:"1,keyasint,omitzero" json:"id"`
	Turn         ID      `cbor:"2,keyasint,omitzero" json:"turn"`
	Request      string  `cbor:"3,keyasint,omitempty" json:"request,omitempty"`
	Investigated string  `cbor:"4,keyasint,omitempty" json:"investigated,omitempty"`
	Learned      string  `cbor:"5,keyasint,omitempty" json:"learned,omitempty"`
	Completed    string  `cbor:"6,keyasint,omitempty" json:"completed,omitempty"`
	NextSteps    string  `cbor:"7,keyasint,omitempty" json:"next_steps,omitempty"`
	Notes        string  `cbor:"8,keyasint,omitempty" json:"notes,omitempty"`
	Claims       []Claim `cbor:"9,keyasint,omitempty" json:"claims,omitempty"`
	Prompt       int     `cbor:"10,keyasint,omitempty" json:"prompt,omitempty"`
	Source       string  `cbor:"11,keyasint,omitempty" json:"source,omitempty"` // of one that no turn of ours made: the memory that it was imported from

	Origin      Origin `cbor:"12,keyasint,omitempty" json:"origin,omitempty"`      // OriginOutside where that of something that it read is
	Unseen      bool   `cbor:"13,keyasint,omitempty" json:"unseen,omitempty"`      // names files, none of which the session touched
	Unsupported bool   `cbor:"14,keyasint,omitempty" json:"unsupported,omitempty"` // next steps that nothing it read bears out
}

// Texts are what the summary says, in the order in which it is read. Texts that it does not have are empty.
func (e SummaryParsed) Texts() []string {
	return []string{e.Request, e.Investigated, e.Learned, e.Completed, e.NextSteps, e.Notes}
}

// InputsDropped gives inputs up without an output.
type InputsDropped struct {
	Inputs []Position `cbor:"1,keyasint,omitempty" json:"inputs"`
	Reason DropReason `cbor:"2,keyasint,omitempty" json:"reason"`
	Turn   ID         `cbor:"3,keyasint,omitzero" json:"turn,omitzero"` // the last turn that tried
}

// ReobserveRequested has inputs owed again. A person asks for it, of turns; it then has no causation. Where the newest summary of a
// session was forgotten, it is caused by that MemoryForgotten, names no turn and no provider, and asks for another summary.
type ReobserveRequested struct {
	Turns    []ID       `cbor:"1,keyasint,omitempty" json:"turns"`
	Provider string     `cbor:"2,keyasint,omitempty" json:"provider,omitempty"` // empty: the current one
	Inputs   []Position `cbor:"3,keyasint,omitempty" json:"inputs"`             // what those turns settled
}

// Undoing is how work was undone.
type Undoing string

// The ways in which work is undone.
const (
	UndoneRewritten Undoing = "rewritten" // an edit took out what it had written
	UndoneRestored  Undoing = "restored"  // git put the files back to what they were
	UndoneDeleted   Undoing = "deleted"   // its files were deleted
)

// WorkUndone says of which of a session's observations the work was undone by later calls, by the calls' own words: nothing is left in the
// files of what it put there. It is appended with the answer to the turn that settles those calls, whatever that says, or to the one that
// observes the work again. It holds no words.
type WorkUndone struct {
	Turn ID       `cbor:"1,keyasint,omitzero" json:"turn"`
	Rows []Undone `cbor:"2,keyasint,omitempty" json:"rows"`
}

// Undone is an observation whose work was undone.
type Undone struct {
	Observation ID       `cbor:"1,keyasint,omitzero" json:"id"`
	At          Position `cbor:"2,keyasint,omitempty" json:"at,omitempty"` // of its record; 0: it is of the same append
	By          Position `cbor:"3,keyasint,omitempty" json:"by"`           // of the ToolUsed that took out what decided it
	How         Undoing  `cbor:"4,keyasint,omitempty" json:"how"`
}
