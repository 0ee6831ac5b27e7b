package eventlog

import (
	"crypto/rand"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/events"
)

// Relay gives the records of a log that lost some the places that they have without those: positions stay, the versions and chains of a
// stream are laid anew behind what it lost. What it returns is what Restore takes. It is no check: the caller says what a record is.
// It keeps about 200 bytes for each stream, and is not safe for concurrent use.
type Relay struct {
	codec    *events.Codec
	last     events.Position
	recorded time.Time // of the last record
	heads    map[events.StreamID]head
}

// NewRelay begins with a log's first record. Placeholders are made with codec.
func NewRelay(codec *events.Codec) *Relay {
	return &Relay{codec: codec, heads: map[events.StreamID]head{}}
}

// Add places r, which is at the position behind what was added last, and not recorded before its predecessor, and says whether
// it had another version, back-pointer or chain before.
func (y *Relay) Add(r events.Record) (placed events.Record, moved bool) {
	h := y.heads[r.Stream]
	placed = r.Relay(h.Version+1, h.Last, h.Chain)
	y.took(placed)
	return placed, placed.Chain != r.Chain
}

// Lost makes the placeholder, at the next position, of a record that was version v of stream; of events.Lost and 0 where that is not known.
func (y *Relay) Lost(stream events.StreamID, v events.Version) (events.Record, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return events.Record{}, err
	}
	var salt events.Salt
	rand.Read(salt[:]) // never fails
	at := y.recorded
	if at.IsZero() {
		at = time.Unix(0, 0)
	}
	sealed, err := y.codec.Seal(events.Draft{ID: id, OccurredAt: at, Event: events.RecordLost{Version: v}}, salt)
	if err != nil {
		return events.Record{}, err
	}
	h := y.heads[stream]
	r := y.codec.Place(sealed, y.last+1, stream, h.Version+1, h.Last, h.Chain, at)
	y.took(r)
	return r, nil
}

func (y *Relay) took(r events.Record) {
	y.last, y.recorded, y.heads[r.Stream] = r.Position, r.RecordedAt, after(r)
}
