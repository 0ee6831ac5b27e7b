package api

import (
	"strings"
	"time"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/health"
	"github.com/cmemd/cmemd/projections/vectors"
)

// The routes of the daemon itself.
var (
	HealthRoute  = Route[NoQuery, Alive]{get, "/healthz", ScopeAnybody, "it is alive"}
	ReadyRoute   = Route[ReadyQuery, Readiness]{get, "/readyz", ScopeAnybody, "it has started"}
	StatusRoute  = Route[NoQuery, Status]{get, "/v1/status", ScopeView, "the daemon, its providers, what is not well"}
	MetricsRoute = Stream[NoQuery]{get, "/metrics", ScopeView, "numbers for Prometheus"}
	StopRoute    = Route[StopQuery, Done]{post, "/v1/stop", ScopeOwn, "ends the daemon in order"} // it has not ended yet when it answers
	RotateRoute  = Route[NoQuery, Done]{post, "/v1/token/rotate", ScopeSocket, "another bearer token"}
)

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
	Notice    string              `json:"notice,omitempty"`   // what the next session's person will be shown, marked as a notice
	Erasure   *ErasureStatus      `json:"erasure,omitempty"`  // forgetting and retention
	Hidden    []HiddenSession     `json:"hidden,omitempty"`   // by ignore files, in the last week, the latest first
	Vectors   *vectors.Stats      `json:"vectors,omitempty"`  // nil: there are none
	Projects  ProjectCounts       `json:"projects"`           // how folders stand among projects
	Settings  map[string]string   `json:"settings,omitempty"`
	LeftOut   []LeftOut           `json:"left_out,omitempty"` // variables of the environment that it was started in, which do not count
	Damage    *LogDamage          `json:"damage,omitempty"`   // of the log, until it is found whole; nil: none is known
	Joined    bool                `json:"joined,omitempty"`   // this machine shares its memory with others
	Sharing   []string            `json:"sharing,omitempty"`  // what keeps this machine's memory from being shared with others, in words; none: nothing, or it shares with none
	Disabled  *DisabledStatus     `json:"disabled,omitempty"` // sessions of which nothing is recorded; nil: none is known
	Unserved  *Unserved           `json:"unserved,omitempty"` // the loopback address that could not be had; nil: it is served, or none is set
}

// Unserved is a loopback address at which the daemon does not answer though its settings say so.
type Unserved struct {
	Addr    string `json:"addr"`              // as the setting listen has it
	Port    int    `json:"port"`              // of it; 0: it names none
	Why     string `json:"why"`               // in the system's words
	PID     int    `json:"pid,omitempty"`     // of the process that has the port; 0: that cannot be told
	Command string `json:"command,omitempty"` // of that process: the name of its program
}

// HiddenSession is a session of which an ignore file keeps reports off the record.
type HiddenSession struct {
	Session events.SessionID `json:"session"`
	Agent   string           `json:"agent"`
	File    string           `json:"file"`
	Reports int              `json:"reports"`
	At      time.Time        `json:"at"`
}

// LogDamage is the first damage of the log that anybody met.
type LogDamage struct {
	Position events.Position `json:"position"` // of a record; 0: of the file itself
	Stream   events.StreamID `json:"stream,omitempty"`
	Reason   string          `json:"reason"`
	At       time.Time       `json:"at"` // when it was met
}

// ViewLag says how far behind the log a view is.
type ViewLag struct {
	Name     string          `json:"name"`
	Position events.Position `json:"position"`
	Lag      uint64          `json:"lag"`               // records
	Stopped  string          `json:"stopped,omitempty"` // why it goes no further, and when it tries again, if it does; empty: it does

	// Rebuilding is that it was damaged, and answers nothing until it is made anew as far as it was; of the index alone.
	Rebuilding bool `json:"rebuilding,omitempty"`
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

// LeftOut is a variable that a daemon was not given, or does not heed.
type LeftOut struct {
	Variable string `json:"variable"`
	Setting  string `json:"setting"` // that says the same
}

// DisabledStatus is what hooks counted where CMEMD_DISABLE, or another variable that switches them off, was set.
type DisabledStatus struct {
	Sessions int       `json:"sessions"` // of the last 30 days
	Last     time.Time `json:"last"`
}

// Alive is the answer of a daemon that runs, whatever phase it is in.
type Alive struct {
	Alive bool `json:"alive"`
}

// Readiness is the phase of the daemon's start.
type Readiness struct {
	Ready bool   `json:"ready"`
	Phase string `json:"phase"`
}

// StopQuery asks the daemon to end.
type StopQuery struct {
	Cause string `param:"cause"` // for its log file; at most 200 bytes
}

// Check implements the queries' method of that name. What could dress up a line of a log file is taken out.
func (q *StopQuery) Check(wrong Wrong) {
	q.Cause = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, q.Cause)
	if len(q.Cause) > 200 {
		wrong("cause", "is longer than 200 bytes")
	}
}

// ReadyQuery asks for the phase of the daemon's start.
type ReadyQuery struct {
	Always bool `param:"always"` // a daemon that is not ready is no error
}

// AnyProject is as that of NoQuery.
func (ReadyQuery) AnyProject() bool { return true }
