package share

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/eventlog/share/space"
	"github.com/cmemd/cmemd/events"
)

// ErrStatement is returned for an object that is not what a machine of the space signed.
var ErrStatement = errors.New("share: not signed by a machine of the space")

// statement is what a machine signs of itself: a head, a note or a report.
type statement interface {
	signer() space.MemberID
	domain() string // begins what is signed, with the key that it is stored under
}

// head says how far a log is in the store.
type head struct {
	Machine space.MemberID  `json:"machine"`
	Log     events.LogID    `json:"log"`
	Life    uint64          `json:"life"` // of the writer, from 1
	Last    events.Position `json:"last"`
	Link    events.Hash     `json:"link"` // of Last
	At      time.Time       `json:"at"`   // by the machine's clock
}

// noteID names a note; one sorts behind those made before it.
type noteID = uuid.UUID

// note asks all machines to forget.
type note struct {
	Machine space.MemberID `json:"machine"`
	ID      noteID         `json:"id"`
	At      time.Time      `json:"at"`
	Logs    []target       `json:"logs"`
}

// target is records of one log.
type target struct {
	Log   events.LogID  `json:"log"`
	Spans []events.Span `json:"spans"`
}

// notePlaces is how many records one note may name: what is more is several notes. It bounds what a note costs whoever reads it.
const notePlaces = 5000

// maxPosition is behind every record that a log can have: it leaves room to count past it.
const maxPosition = events.Position(1) << 62

// bounded reports whether a note names at least one record of each of its logs, in order, and not more than one may name.
func (n note) bounded() bool {
	var all uint64
	for _, t := range n.Logs {
		if t.Log.IsZero() || len(t.Spans) == 0 {
			return false
		}
		var last events.Position
		for _, span := range t.Spans {
			if span.From <= last || span.To < span.From || span.To > maxPosition || uint64(span.To-span.From) >= notePlaces {
				return false
			}
			if all += uint64(span.To-span.From) + 1; all > notePlaces {
				return false
			}
			last = span.To
		}
	}
	return len(n.Logs) > 0
}

// positions are all of a target's.
func (t target) positions() (all []events.Position) {
	for _, span := range t.Spans {
		for at := span.From; at <= span.To; at++ {
			all = append(all, at)
		}
	}
	return all
}

func (n note) places() (all []events.Place) {
	for _, t := range n.Logs {
		for _, at := range t.positions() {
			all = append(all, events.Place{Log: t.Log, Position: at})
		}
	}
	return all
}

// report says what a machine read and did.
type report struct {
	Machine  space.MemberID `json:"machine"`
	At       time.Time      `json:"at"`
	Manifest uint64         `json:"manifest"` // the number of its last change that the machine knows
	Hash     events.Hash    `json:"hash"`     // of that change
	Copies   []feedReport   `json:"copies"`
	Done     []noteID       `json:"done"` // what was forgotten there, in order
}

// reportedNotes is how many notes a report names as done, the newest: 300 KiB of JSON.
const reportedNotes = 8000

// confirms reports whether a note was done there. What is older than all that a full report names is.
func (r report) confirms(id noteID) bool {
	i, found := slices.BinarySearchFunc(r.Done, id, func(a, b noteID) int { return bytes.Compare(a[:], b[:]) })
	return found || i == 0 && len(r.Done) >= reportedNotes
}

// feedReport is how far a machine read a log.
type feedReport struct {
	Log  events.LogID    `json:"log"`
	Last events.Position `json:"last"`
	Want events.Position `json:"want,omitempty"` // a record whose segment is missing or damaged in the store; 0: none is
	Link events.Hash     `json:"link,omitzero"`  // of Last
}

func (h head) signer() space.MemberID   { return h.Machine }
func (n note) signer() space.MemberID   { return n.Machine }
func (r report) signer() space.MemberID { return r.Machine }

func (head) domain() string   { return "cmemd head\x00" }
func (note) domain() string   { return "cmemd forget\x00" }
func (report) domain() string { return "cmemd seen\x00" }

// sign returns a statement as it is stored: its signature, then its JSON.
func sign[T statement](s *space.Space, v T) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("share: %w", err)
	}
	return append(ed25519.Sign(s.Keys().Signer(), signed(s.ID(), v, text)), text...), nil
}

// verify reads what sign returned.
func verify[T statement](s *space.Space, b []byte) (v T, err error) {
	if len(b) < ed25519.SignatureSize {
		return v, fmt.Errorf("%w: %d bytes", ErrStatement, len(b))
	}
	signature, text := b[:ed25519.SignatureSize], b[ed25519.SignatureSize:]
	if err := json.Unmarshal(text, &v); err != nil {
		return v, fmt.Errorf("%w: %w", ErrStatement, err)
	}
	m, ok := s.Manifest().Machine(v.signer())
	if !ok || len(m.Public.Sign) != ed25519.PublicKeySize || !ed25519.Verify(m.Public.Sign, signed(s.ID(), v, text), signature) {
		return v, ErrStatement
	}
	return v, nil
}

func signed(id space.ID, v statement, text []byte) []byte {
	return slices.Concat([]byte(v.domain()), id[:], text)
}
