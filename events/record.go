package events

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
)

// Position is a record's place in the log: from 1, strictly increasing, without gaps. 0 is none.
type Position uint64

// Moment is how far a log was known: up to and with the record at a position. It is moved as positions are, and need not name a record that
// anybody meant.
type Moment uint64

// Version is a record's place in its stream: from 1, gapless. 0 is the version of a stream without records.
type Version uint64

// Hash is a SHA-256.
type Hash [sha256.Size]byte

// IsZero reports whether h is the zero hash.
func (h Hash) IsZero() bool { return h == Hash{} }

// String is 64 hex digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText writes what String returns.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (h *Hash) UnmarshalText(b []byte) error {
	if len(b) != 2*len(h) {
		return fmt.Errorf("events: hash: want %d hex digits, got %d characters", 2*len(h), len(b))
	}
	_, err := hex.Decode(h[:], b)
	return err
}

// Salt makes the hash of an erased payload useless for guessing. It is stored with the payload and erased with it.
type Salt [16]byte

// Draft is an event that is about to be appended.
type Draft struct {
	ID          ID        // UUIDv7, made by whoever decided; never zero
	Key         Key       // of a repeated delivery; zero: none
	OccurredAt  time.Time // when it happened, as the reporter says; nanoseconds are kept, the zone is not
	Causation   ID        // the record or command that led here; zero: none
	Correlation ID        // the turn it belongs to; zero: none
	Unobserved  bool      // an input kind that no turn is to settle
	Event       Event
}

// Header is what a record says about its event without its content. The chain covers all of it.
type Header struct {
	Position    Position  `json:"position"`
	Stream      StreamID  `json:"stream"`
	Version     Version   `json:"version"`
	Previous    Position  `json:"previous"` // of the same stream; 0 for its first record
	ID          ID        `json:"id"`
	Kind        Kind      `json:"kind"`
	Schema      uint16    `json:"schema"` // from 1, a kind
	Unobserved  bool      `json:"unobserved,omitempty"`
	Key         Key       `json:"key,omitzero"`
	OccurredAt  time.Time `json:"occurred_at"`
	RecordedAt  time.Time `json:"recorded_at"` // never decreasing over the log
	Causation   ID        `json:"causation,omitzero"`
	Correlation ID        `json:"correlation,omitzero"`
	Size        uint32    `json:"size"` // bytes of the payload before compression
	PayloadHash Hash      `json:"payload_hash"`
}

// IsInput reports whether the record is an input: something that a turn must settle.
func (h Header) IsInput() bool { return IsInput(h.Kind) && !h.Unobserved }

// Errors of reading a record or its payload.
var (
	// ErrCorrupt is bytes that are no record, or a payload that is not what its header says.
	ErrCorrupt = errors.New("events: corrupt record")
	// ErrErased is a payload that was erased; the header and the chain still stand.
	ErrErased = errors.New("events: payload erased")
	// ErrWithheld is a payload that the log's owner keeps, or that this copy no longer does. It is ErrErased too.
	ErrWithheld = fmt.Errorf("%w here: its owner keeps it", ErrErased)
	// ErrMoved is the stored form of a record that Moved returned: there is none, the one that it was read from stands.
	ErrMoved = errors.New("events: a moved record is not stored")
	// ErrUnknownKind is a kind, or a schema of a kind, that is newer than this program.
	ErrUnknownKind = errors.New("events: unknown kind or schema")
	// ErrTooLarge is a payload over MaxPayload.
	ErrTooLarge = errors.New("events: payload too large")
)

// Record is one entry of the log. It is a small value over bytes owned by whoever read it; those of a log's
// iterators are the caller's to keep. Its methods are safe for concurrent use.
type Record struct {
	Header
	Chain    Hash // SHA-256 of the stream's previous chain and this header, as its log has it
	Erased   bool // the payload is gone
	Withheld bool // beside Erased: its owner has it

	compressed bool
	salt       Salt
	payload    []byte
	codec      *Codec
	moved      *moved // nil: it is where its log has it
}

// Event decodes the payload. Errors: ErrErased, ErrUnknownKind, ErrCorrupt.
func (r Record) Event() (Event, error) {
	body, err := r.body()
	if err != nil {
		return nil, err
	}
	e, err := r.codec.decode(r.Kind, r.Schema, body)
	if err != nil {
		return nil, fmt.Errorf("record %d (%s): %w", r.Position, r.Kind, err)
	}
	return r.moved.event(e), nil
}

// Check reports whether the payload is the one the header names. An erased payload passes.
func (r Record) Check() error {
	body, err := r.body()
	if errors.Is(err, ErrErased) {
		return nil
	}
	if err != nil {
		return err
	}
	if hashOf(r.salt[:], body) != r.PayloadHash {
		return fmt.Errorf("record %d: payload hash differs: %w", r.Position, ErrCorrupt)
	}
	return nil
}

// NextChain is the chain that a record with header h must carry after a record of the same stream with chain prev.
func NextChain(prev Hash, h Header) Hash {
	b := appendHeader(make([]byte, 0, 256), h)
	return hashOf(prev[:], b)
}

// hashOf is the hash of what stands behind a salt, or behind the chain before it.
func hashOf(before, text []byte) Hash {
	d := sha256.New()
	d.Write(before)
	d.Write(text)
	var h Hash
	d.Sum(h[:0])
	return h
}

func (r Record) body() ([]byte, error) {
	switch {
	case r.Withheld:
		return nil, fmt.Errorf("record %d (%s): %w", r.Position, r.Kind, ErrWithheld)
	case r.Erased:
		return nil, fmt.Errorf("record %d (%s): %w", r.Position, r.Kind, ErrErased)
	}
	if !r.compressed {
		return r.payload, nil
	}
	body, err := r.codec.decompress(r.payload, int(r.Size))
	if err != nil {
		return nil, fmt.Errorf("record %d (%s): %w", r.Position, r.Kind, err)
	}
	return body, nil
}
