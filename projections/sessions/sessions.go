package sessions

import (
	"encoding/binary"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/health"
	"github.com/cmemd/cmemd/projections/outcomes"
)

// View keeps one row a session. It counts by headers alone, so nothing that is forgotten changes it.
type View struct{}

func (View) Name() string        { return "sessions" }
func (View) Reads() engine.Reads { return engine.Reads{Others: true} }

func table() engine.Table[Session] { return engine.Table[Session]{Name: "rows"} }

// timeTable orders parts by their latest captured event.
func timeTable() engine.Table[engine.Member] {
	return engine.Table[engine.Member]{Name: "by_time"}
}

func openSessionTable() engine.Table[engine.Member] { return engine.Table[engine.Member]{Name: "open"} }
func activityID(k []byte) (id [16]byte)             { copy(id[:], k[min(8, len(k)):]); return id }

func activityKey(s Session) []byte {
	return append(binary.BigEndian.AppendUint64(make([]byte, 0, 40), engine.TimeBits(s.LastAt)), partKey{s.ID, s.Log}.bytes()...)
}

func (View) Layout() engine.Layout {
	return engine.Layout{Version: 2, Tables: []engine.TableSpec{table().Spec(engine.ShowID), timeTable().Spec(engine.ShowHex), openSessionTable().Spec(engine.ShowID)}}
}

// Session is what the events of one session add up to.
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

	Log events.LogID `cbor:"31,keyasint,omitzero" json:"log,omitzero"` // that has it, or what was heard last of it; zero: there is one log

	Machine string           `cbor:"-" json:"machine,omitempty"` // another one, that Log is of, by its name; filled when read
	Parts   []Part           `cbor:"-" json:"parts,omitempty"`   // where several machines have records of it; filled when read
	Title   string           `cbor:"-" json:"title,omitempty"`   // its first words: the first prompt that is not private; filled when read
	Pending int              `cbor:"-" json:"pending"`           // inputs that still await an outcome; filled when read
	Inputs  outcomes.Balance `cbor:"-" json:"inputs"`            // filled by Views.Session, not by Views.Sessions
}

// Open reports whether the session has not been closed.
func (s Session) Open() bool { return s.ClosedAt.IsZero() }

// Filter chooses sessions. The zero value chooses all.
type Filter struct {
	Agent    string
	Since    time.Time // with a captured event at or after it
	OpenOnly bool
	Match    func(Session) bool // as its own events have it, without what is counted; it must not ask the views. nil: every session
	Limit    int                // 0 means 100
}
