package events

import "time"

// Limits are the supervision limits that were in force when a decision was taken: those of restarts after crashes, or,
// for a respawn or a pause because of unparseable outputs, those of outputs.
type Limits struct {
	MaxRestarts    int           `cbor:"1,keyasint,omitempty" json:"max_restarts,omitempty"`
	Window         time.Duration `cbor:"2,keyasint,omitempty" json:"window"`
	MaxConsecutive int           `cbor:"3,keyasint,omitempty" json:"max_consecutive,omitempty"`
	Unparseable    int           `cbor:"4,keyasint,omitempty" json:"unparseable,omitempty"` // outputs in Window that earn a fresh generation, or pause the provider
	Every          time.Duration `cbor:"5,keyasint,omitempty" json:"every,omitempty"`       // the least time between two of these
}

// Counted is what a decision counted.
type Counted struct {
	InWindow    int `cbor:"1,keyasint,omitempty" json:"in_window"`             // restarts in the closed window, this one included
	Consecutive int `cbor:"2,keyasint,omitempty" json:"consecutive"`           // restarts since the last parsed turn, this one included
	Unparseable int `cbor:"3,keyasint,omitempty" json:"unparseable,omitempty"` // non-idle outputs in the closed window that did not parse, this one included: of the session, or of the provider
}

// SessionRespawned is a new observer for a session. It is appended before the observer is started.
type SessionRespawned struct {
	From    int           `cbor:"1,keyasint,omitempty" json:"from"`
	To      int           `cbor:"2,keyasint,omitempty" json:"to"`
	Cause   string        `cbor:"3,keyasint,omitempty" json:"cause"` // crash, unparseable
	Limits  Limits        `cbor:"4,keyasint,omitzero" json:"limits"`
	Counted Counted       `cbor:"5,keyasint,omitzero" json:"counted"`
	Delay   time.Duration `cbor:"6,keyasint,omitempty" json:"delay"` // before the observer may be asked
}

// SessionQuarantined stops a session's observer. Its inputs keep being captured.
type SessionQuarantined struct {
	Cause   string    `cbor:"1,keyasint,omitempty" json:"cause"` // intensity, consecutive, probe
	Until   time.Time `cbor:"2,keyasint,omitzero" json:"until"`  // when one probe turn may be tried
	Trip    int       `cbor:"3,keyasint,omitempty" json:"trip"`  // how many in a row, from 1
	Limits  Limits    `cbor:"4,keyasint,omitzero" json:"limits"`
	Counted Counted   `cbor:"5,keyasint,omitzero" json:"counted"`
}

// SessionReleased ends a quarantine.
type SessionReleased struct {
	By string `cbor:"1,keyasint,omitempty" json:"by"` // probe, person
}

// ProviderPaused stops one provider for all sessions.
type ProviderPaused struct {
	Class FailureClass `cbor:"1,keyasint,omitempty" json:"class"`
	Until time.Time    `cbor:"2,keyasint,omitzero" json:"until"`  // when one probe may be tried
	Probe int          `cbor:"3,keyasint,omitempty" json:"probe"` // how many pauses in a row, from 1
	Turn  ID           `cbor:"4,keyasint,omitzero" json:"turn,omitzero"`

	// Of FailNoYield alone.
	Limits  Limits  `cbor:"5,keyasint,omitzero" json:"limits,omitzero"`
	Counted Counted `cbor:"6,keyasint,omitzero" json:"counted,omitzero"`
}

// ProviderResumed ends a pause.
type ProviderResumed struct {
	By string `cbor:"1,keyasint,omitempty" json:"by"` // probe, config, person
}

// SessionFaulted is a session actor that crashed itself.
type SessionFaulted struct {
	Session SessionID `cbor:"1,keyasint,omitzero" json:"session"`
	Command string    `cbor:"2,keyasint,omitempty" json:"command"` // its kind, never its content
	Cause   string    `cbor:"3,keyasint,omitempty" json:"cause"`
}

// DaemonStarted begins a life of the daemon.
type DaemonStarted struct {
	Version  string            `cbor:"1,keyasint,omitempty" json:"version"`
	PID      int               `cbor:"2,keyasint,omitempty" json:"pid"`
	Settings map[string]string `cbor:"3,keyasint,omitempty" json:"settings,omitempty"` // in force; secrets never
	Rules    int               `cbor:"4,keyasint,omitempty" json:"rules,omitempty"`    // by which sessions decide: a version of session.Rules; 0: from before it was recorded
}

// DaemonStopped ends one in order.
type DaemonStopped struct {
	Clean bool   `cbor:"1,keyasint,omitempty" json:"clean"`
	Cause string `cbor:"2,keyasint,omitempty" json:"cause"`
}

// DaemonDegraded says that the daemon only captures, or that it does its whole job again.
type DaemonDegraded struct {
	Why     string `cbor:"1,keyasint,omitempty" json:"why"`
	Cleared bool   `cbor:"2,keyasint,omitempty" json:"cleared,omitempty"`
}

// CaptureHidden says that an ignore file kept reports of a session off the record: when the first one was, and how many there
// were when the session or the daemon ended. It holds no word of what was hidden.
type CaptureHidden struct {
	Agent   string    `cbor:"1,keyasint,omitempty" json:"agent"`
	Session SessionID `cbor:"2,keyasint,omitzero" json:"session"`
	File    string    `cbor:"3,keyasint,omitempty" json:"file"`  // the ignore file
	Count   int       `cbor:"4,keyasint,omitempty" json:"count"` // of reports, since this life of the daemon first hid one of the session
}
