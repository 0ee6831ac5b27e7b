package health

import (
	"time"

	"github.com/cmemd/cmemd/events"
)

// Quarantine is a session's observer stopped by supervision.
type Quarantine struct {
	Session events.SessionID `cbor:"1,keyasint,omitzero" json:"session"`
	Since   time.Time        `cbor:"2,keyasint,omitzero" json:"since"`
	Until   time.Time        `cbor:"3,keyasint,omitzero" json:"until"` // when one probe turn may be tried
	Cause   string           `cbor:"4,keyasint,omitempty" json:"cause"`
	Trip    int              `cbor:"5,keyasint,omitempty" json:"trip"`
	At      time.Time        `cbor:"6,keyasint,omitzero" json:"at,omitzero"` // of the last of those in a row; this and the rest in a Report alone
	// Whose observer it was, where a turn says so.
	Provider string `cbor:"7,keyasint,omitempty" json:"provider,omitempty"`
	Model    string `cbor:"8,keyasint,omitempty" json:"model,omitempty"`
	Trial    Trial  `cbor:"9,keyasint,omitzero" json:"trial,omitzero"`
}

// Respawn is a fresh observer that supervision gave a session.
type Respawn struct {
	Session  events.SessionID `cbor:"1,keyasint,omitzero" json:"session"`
	Position events.Position  `cbor:"2,keyasint,omitempty" json:"position"` // of its event
	At       time.Time        `cbor:"3,keyasint,omitzero" json:"at"`
	From     int              `cbor:"4,keyasint,omitempty" json:"from"` // generation
	To       int              `cbor:"5,keyasint,omitempty" json:"to"`
	Cause    string           `cbor:"6,keyasint,omitempty" json:"cause"`
	Limits   events.Limits    `cbor:"7,keyasint,omitzero" json:"limits"` // that were in force
	Counted  events.Counted   `cbor:"8,keyasint,omitzero" json:"counted"`
	Delay    time.Duration    `cbor:"9,keyasint,omitempty" json:"delay"` // before the observer may be asked, in nanoseconds
	// Whose observer was replaced, where a turn says so; in a Report alone.
	Provider string `cbor:"10,keyasint,omitempty" json:"provider,omitempty"`
	Model    string `cbor:"11,keyasint,omitempty" json:"model,omitempty"`
}

// Trial is the trial of something that was held back. It lasts from the end of the hold until a release or a new hold.
type Trial struct {
	Turn     events.ID `cbor:"1,keyasint,omitzero" json:"turn,omitzero"`       // that tries it now
	Ended    time.Time `cbor:"2,keyasint,omitzero" json:"ended,omitzero"`      // when the last such turn ended without an answer
	Answered bool      `cbor:"3,keyasint,omitempty" json:"answered,omitempty"` // one was answered, though perhaps not well enough to let it go
}

// Pause is a provider that is not asked.
type Pause struct {
	Provider string              `cbor:"1,keyasint,omitempty" json:"provider"`
	Class    events.FailureClass `cbor:"2,keyasint,omitempty" json:"class"`
	Since    time.Time           `cbor:"3,keyasint,omitzero" json:"since"` // the first of the pauses in a row
	Until    time.Time           `cbor:"4,keyasint,omitzero" json:"until"` // when one probe may be tried
	Probe    int                 `cbor:"5,keyasint,omitempty" json:"probe"`
	At       time.Time           `cbor:"6,keyasint,omitzero" json:"at,omitzero"`      // of the last of them
	Model    string              `cbor:"7,keyasint,omitempty" json:"model,omitempty"` // that was asked when it failed, where a turn says so
	Trial    Trial               `cbor:"8,keyasint,omitzero" json:"trial,omitzero"`
}
