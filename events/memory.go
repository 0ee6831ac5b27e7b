package events

import "time"

// ClaimChecked is a later look at a claim. It never changes what was found then.
type ClaimChecked struct {
	Subject ID    `cbor:"1,keyasint,omitzero" json:"subject"` // the observation or summary
	Claim   Claim `cbor:"2,keyasint,omitzero" json:"claim"`
}

// MemorySaved is what a person or an agent asked to remember.
type MemorySaved struct {
	Memory      ID        `cbor:"1,keyasint,omitzero" json:"id"`
	Project     string    `cbor:"2,keyasint,omitempty" json:"project"`
	ProjectRoot string    `cbor:"3,keyasint,omitempty" json:"project_root,omitempty"`
	Type        string    `cbor:"4,keyasint,omitempty" json:"type,omitempty"`
	Title       string    `cbor:"5,keyasint,omitempty" json:"title"`
	Text        string    `cbor:"6,keyasint,omitempty" json:"text"`
	Concepts    []string  `cbor:"7,keyasint,omitempty" json:"concepts,omitempty"`
	Files       []string  `cbor:"8,keyasint,omitempty" json:"files,omitempty"`
	Session     string    `cbor:"9,keyasint,omitempty" json:"session,omitempty"` // a session's name as the saver gave it
	At          time.Time `cbor:"10,keyasint,omitzero" json:"at"`                // when it was true, as the saver says
	Writer      Writer    `cbor:"11,keyasint,omitempty" json:"writer,omitempty"` // empty: it was recorded before writers were
}

// MemoryConfirmed says that a person vouches for a row: it is injected whole, whoever's words were read for it and whatever nothing bears
// out of it. A withdrawn one says that nobody does any more.
type MemoryConfirmed struct {
	Memory    ID   `cbor:"1,keyasint,omitzero" json:"id"`
	Withdrawn bool `cbor:"2,keyasint,omitempty" json:"withdrawn,omitempty"`
}

// MemorySuperseded says that one memory took another's place; by itself: that it is only taken back. By none: that what was
// said so of it before is undone, and it stands again.
type MemorySuperseded struct {
	Memory ID `cbor:"1,keyasint,omitzero" json:"id"`
	By     ID `cbor:"2,keyasint,omitzero" json:"by"`

	// Writer is empty where it was recorded before writers were, and where it only follows from an erasure.
	Writer Writer `cbor:"3,keyasint,omitempty" json:"writer,omitempty"`
}

// MemoryForgotten says which payloads were erased, and never what they said. Numbers are no words: what turns cost whose ends
// are among them was paid all the same, and is stated here.
type MemoryForgotten struct {
	Positions  []Position `cbor:"1,keyasint,omitempty" json:"positions"`
	IDs        []ID       `cbor:"2,keyasint,omitempty" json:"ids,omitempty"`
	ErasedHash Hash       `cbor:"3,keyasint,omitzero" json:"residue"` // of what was erased, salted: proof without words
	Cause      string     `cbor:"4,keyasint,omitempty" json:"cause"`  // person, retention

	Spent []TurnSpent `cbor:"5,keyasint,omitempty" json:"spent,omitempty"` // of each TurnReceived and TurnFailed among Positions
}

// ForgetRequested says that somebody who is no person wants payloads erased, and never what they say. Nothing is erased, and no outcome
// of an input changes: its rows are only kept out of answers until a ForgetSettled of the same request. One that names much is several
// events, which are appended at once.
type ForgetRequested struct {
	Request   ID         `cbor:"1,keyasint,omitzero" json:"request"`
	Positions []Position `cbor:"2,keyasint,omitempty" json:"positions"`
	IDs       []ID       `cbor:"3,keyasint,omitempty" json:"ids,omitempty"` // of the rows among them
	Writer    Writer     `cbor:"4,keyasint,omitempty" json:"writer"`
}

// ForgetSettled ends a request: what it named is erased, or shown again.
type ForgetSettled struct {
	Request ID            `cbor:"1,keyasint,omitzero" json:"request"`
	Outcome SettleOutcome `cbor:"2,keyasint,omitempty" json:"outcome"`
	Writer  Writer        `cbor:"3,keyasint,omitempty" json:"writer,omitempty"` // empty: nobody, it expired
}

// TurnSpent is what is left of a turn's end whose payload was erased.
type TurnSpent struct {
	Turn  ID           `cbor:"1,keyasint,omitzero" json:"turn"`
	Class FailureClass `cbor:"2,keyasint,omitempty" json:"class,omitempty"` // of one that failed
	Bill  Bill         `cbor:"3,keyasint,omitzero" json:"bill"`
}
