package api

import (
	"encoding/json"
	"time"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/capture"
	"github.com/cmemd/cmemd/internal/memory/recall"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/health"
	"github.com/cmemd/cmemd/projections/injections"
	"github.com/cmemd/cmemd/projections/outcomes"
	"github.com/cmemd/cmemd/projections/rows"
	"github.com/cmemd/cmemd/projections/sessions"
	"github.com/cmemd/cmemd/projections/turn"
	"github.com/cmemd/cmemd/projections/vectors"
)

// What the views already say in words of their own goes over the wire as it is.
type (
	Row        = rows.Row             // one observation, summary, saved memory or prompt
	Session    = sessions.Session     // one agent session
	Input      = outcomes.Input       // one input and its outcome
	Balance    = outcomes.Balance     // what became of all inputs
	Turn       = turn.Turn            // one request to the observer
	Injection  = injections.Injection // memory that an agent was given
	Health     = health.Report        // how the observer has been doing
	Finding    = health.Finding       // one thing that is not well
	View       = engine.Info          // one view: rows, bytes, checkpoint, lag
	Inspection = engine.Inspection    // one view laid open
	LogStats   = eventlog.Stats       // what the log holds
	Result     = recall.Item          // one row in short: enough to decide whether to read it whole
	Facets     = recall.Facets        // how what a search matches is spread
	Count      = recall.Count         // how many rows have a value
	Explained  = recall.Explained     // what a result's score is made of
	Verdict    = rows.Verdict         // a claim, and what was found of it then and later
	Ingested   = capture.Ingested     // what became of a transcript
	BadLine    = capture.BadLine      // a line that was not understood, or whose fact was refused
	Imported   = capture.Imported     // what became of another memory's entries
)

// SearchQuery says what to look for. Zero fields do not narrow; without a Text the newest come first.
type SearchQuery struct {
	Text    string          `param:"q"`
	Project string          `param:"project"`                                                       // any folder of it, or its shown name
	Kind    string          `param:"kind" words:"observation,summary,memory,prompt" several:"true"` // several with commas between
	Type    string          `param:"type"`
	Concept string          `param:"concept"`
	File    string          `param:"file"`    // the end of a path, or of a folder's: what lies in it; an absolute one in every folder of its project
	Session string          `param:"session"` // our id, or the agent's or the saver's own name
	Agent   string          `param:"agent"`
	Since   time.Time       `param:"since"` // inclusive, as Until
	Until   time.Time       `param:"until"`
	AsOf    Moment          `param:"as_of"`                                // nothing that was recorded later
	Sort    string          `param:"sort" words:"relevance,newest,oldest"` // empty: relevance
	Recency *int            `param:"recency" most:"1000"`                  // per cent that the newest is worth above the very old; nil: as configured
	Facets  bool            `param:"facets"`                               // count the values of all that match
	Explain bool            `param:"explain"`                              // say of each result why it has its score
	Limit   int             `param:"limit" default:"20" most:"100"`
	Offset  int             `param:"offset" most:"10000"`
	After   events.Position `param:"after" wait:"true"` // the answer must know this position; 0: whatever is known
}

// SearchResults is the answer to a search.
type SearchResults struct {
	Position events.Position `json:"position"` // what the answer knows
	Total    int             `json:"total"`    // rows that matched, as far as they were counted
	Results  []Result        `json:"results"`  // best first; never null
	Facets   *Facets         `json:"facets,omitempty"`
	Near     bool            `json:"near,omitempty"` // vectors were looked at too
	Note     string          `json:"note,omitempty"` // what a person should know of the vectors that were not, or not all, looked at
}

// Memory is what a person or an agent wants remembered.
type Memory struct {
	Project     string    `json:"project"` // shown name
	ProjectRoot string    `json:"project_root,omitempty"`
	Title       string    `json:"title,omitempty"` // empty: the beginning of Text
	Text        string    `json:"text"`            // required
	At          time.Time `json:"at,omitzero"`     // when it was true; zero: now
	Session     string    `json:"session,omitempty"`
	Type        string    `json:"type,omitempty"`
	Concepts    []string  `json:"concepts,omitempty"`
	Files       []string  `json:"files,omitempty"`
	// Supersedes is the row that this one corrects: its id, or the beginning of it. That leaves searches and injections, and
	// stays behind why. Project, type, concepts and files that are not given are the corrected one's.
	Supersedes string `json:"supersedes,omitempty"`
}

// Saved is where a memory went.
type Saved struct {
	ID         events.ID       `json:"id"`
	Position   events.Position `json:"position"`
	Superseded []events.ID     `json:"superseded,omitempty"` // rows whose place it took: what was corrected, and what says the same
}

// Rows are rows that were asked for by id.
type Rows struct {
	Position events.Position `json:"position"`
	Rows     []Row           `json:"rows"` // one an id that was found, in the order asked; never null
	Missing  []string        `json:"missing,omitempty"`
}

// SessionsQuery chooses sessions, the latest first.
type SessionsQuery struct {
	Project  string    `param:"project"` // any folder of it, or its shown name
	Agent    string    `param:"agent"`
	Since    time.Time `param:"since"`
	OpenOnly bool      `param:"open"`
	Limit    int       `param:"limit" default:"50" most:"1000"`
}

// Sessions is a list of sessions.
type Sessions struct {
	Position events.Position `json:"position"`
	Sessions []Session       `json:"sessions"` // never null
}

// SessionDetail is one session with all that was remembered of it.
type SessionDetail struct {
	Position events.Position `json:"position"`
	Session  Session         `json:"session"`
	Rows     []Row           `json:"rows"` // oldest first; never null
}

// OutcomesQuery chooses inputs by what became of them, the newest first.
type OutcomesQuery struct {
	Outcome string          `param:"outcome" words:"observed,skipped,dropped,pending,forgotten"`
	Class   string          `param:"class"`
	Reason  string          `param:"reason"`
	Kind    string          `param:"kind" words:"tool_used,context_compacted,agent_stopped"` // of event
	Turn    string          `param:"turn"`                                                   // settled by it: its id, or 8 hex digits or more of the beginning
	Session string          `param:"session"`                                                // our id, or the agent's own
	Project string          `param:"project"`                                                // any folder of it, or its shown name
	Since   time.Time       `param:"since"`
	Until   time.Time       `param:"until"`
	Before  events.Position `param:"before"` // Next of the page before; 0: the latest
	Limit   int             `param:"limit" default:"100" most:"10000"`
	After   events.Position `param:"after" wait:"true"` // the answer must know this position; 0: whatever is known
}

// Outcomes is what became of inputs.
type Outcomes struct {
	Position events.Position `json:"position"`
	Balance  Balance         `json:"balance"`        // of all inputs, or of those of the session or project asked for
	Inputs   []Input         `json:"inputs"`         // never null
	Next     events.Position `json:"next,omitempty"` // the next page lies before it; 0: there is none
	// Turns says who was asked in the turns that the inputs name. One that was forgotten is not in it. Never null.
	Turns map[events.ID]WhoAnswered `json:"turns"`
}

// WhoAnswered is who was asked in a turn.
type WhoAnswered struct {
	Provider string   `json:"provider"`
	Model    string   `json:"model,omitempty"`
	Instead  []string `json:"instead,omitempty"` // providers that stood before it and were passed over
}

// Status is what the daemon is doing.
type Status struct {
	Version   string              `json:"version"`
	PID       int                 `json:"pid"`
	Started   time.Time           `json:"started"`
	Home      string              `json:"home"`
	Phase     string              `json:"phase"` // of the start; "ready" when it is over
	Ready     bool                `json:"ready"`
	Position  events.Position     `json:"position"` // of the log's last record
	Views     []ViewLag           `json:"views"`    // the search index included
	Inputs    Balance             `json:"inputs"`
	Actors    actors.Status       `json:"actors"`
	Providers []ProviderStatus    `json:"providers"` // in the order in which they are asked, then those of tiers alone; never null
	Spool     SpoolStatus         `json:"spool"`
	Health    Health              `json:"health"` // of the last 24 hours, without the hours one by one
	Pauses    []health.Pause      `json:"pauses,omitempty"`
	Held      []health.Quarantine `json:"quarantines,omitempty"`
	Windows   HealthWindows       `json:"windows"`            // the same of the last hour, day and week
	Today     Today               `json:"today"`              // what turns cost since midnight
	Findings  []Finding           `json:"findings"`           // what is not well, the gravest first; their words are marked as notices; never null
	Degraded  string              `json:"degraded,omitempty"` // why it only captures; empty: it does its whole job
	Notice    string              `json:"notice,omitempty"`   // what the next session's person will be told, marked as a notice
	Erasure   *ErasureStatus      `json:"erasure,omitempty"`  // forgetting and retention
	Vectors   *vectors.Stats      `json:"vectors,omitempty"`  // nil: there are none
	Settings  map[string]string   `json:"settings,omitempty"`
}

// ViewLag says how far behind the log a view is.
type ViewLag struct {
	Name     string          `json:"name"`
	Position events.Position `json:"position"`
	Lag      uint64          `json:"lag"` // records
}

// SpoolStatus is what hooks kept, and whether they were answered.
type SpoolStatus struct {
	Waiting    int    `json:"waiting"` // payloads
	Bytes      int64  `json:"bytes"`
	Bad        int    `json:"bad"`        // set aside, each beside a file that says why
	Unanswered int    `json:"unanswered"` // hooks in a row
	Lost       int    `json:"lost"`       // payloads that could be neither posted nor kept
	LostReason string `json:"lost_reason,omitempty"`
}

// LogRecord is one record of the log for people and their tools.
type LogRecord struct {
	events.Header
	Chain   events.Hash     `json:"chain"`
	Erased  bool            `json:"erased,omitempty"`
	Event   json.RawMessage `json:"event,omitempty"`   // what happened, if it was asked for
	Problem string          `json:"problem,omitempty"` // why it was asked for and is not there
}

// RecordsQuery chooses records, the oldest first.
type RecordsQuery struct {
	From    events.Position `param:"from"` // 0 means the first
	Limit   int             `param:"limit" default:"100" most:"1000"`
	Stream  events.StreamID `param:"stream"`  // empty: all; then From is still a position
	Payload bool            `param:"payload"` // with what happened
}

// Records is a stretch of the log.
type Records struct {
	Last    events.Position `json:"last"`    // of the log
	Next    events.Position `json:"next"`    // where to go on; 0: the end was reached
	Records []LogRecord     `json:"records"` // never null
}

// EventsQuery says what to follow.
type EventsQuery struct {
	After   events.Position `param:"after"`   // the last position that is known already; 0: from the first
	Tail    bool            `param:"tail"`    // only what comes from now on; After does not count then
	Stream  events.StreamID `param:"stream"`  // empty: all
	Kinds   string          `param:"kinds"`   // with commas between; empty: all
	Payload bool            `param:"payload"` // with what happened
}

// Progress says how far a long piece of work has come.
type Progress struct {
	Done  uint64 `json:"done"`
	Total uint64 `json:"total"` // 0: not known
}

// Rebuilt is the result of making views anew.
type Rebuilt struct {
	Views    []string        `json:"views"`
	Position events.Position `json:"position"`
}

// Readiness is the phase of the daemon's start.
type Readiness struct {
	Ready bool   `json:"ready"`
	Phase string `json:"phase"`
}

// Released says what became of a quarantine.
type Released struct {
	Session  events.SessionID `json:"session"`
	Position events.Position  `json:"position"`
}
