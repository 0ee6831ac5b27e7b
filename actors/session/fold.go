package session

import (
	"errors"
	"iter"

	"github.com/cmemd/cmemd/events"
)

// Fold evolves the records of one stream, in order, into a State. It decodes only what Evolve reads. An erased payload
// is passed over; an error of the sequence, or a payload that cannot be decoded, ends it.
func Fold(records iter.Seq2[events.Record, error]) (*State, error) {
	s := new(State)
	for r, err := range records {
		if err != nil {
			return nil, err
		}
		if err := s.EvolveRecord(r); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// EvolveRecord is Evolve of a record, decoded only where it must be. On an error s is unchanged.
func (s *State) EvolveRecord(r events.Record) error {
	var e events.Event
	if Reads(r.Kind) {
		var err error
		if e, err = r.Event(); err != nil && !errors.Is(err, events.ErrErased) {
			return err
		}
	}
	Evolve(s, r.Header, e)
	return nil
}

// Apply evolves drafts that Decide returned and that are about to be appended at the end of the stream. Place must
// follow with their records before Next is asked.
func Apply(s *State, drafts []events.Draft) {
	for _, d := range drafts {
		Evolve(s, events.Header{
			Version: s.version + 1, ID: d.ID, Kind: events.KindOf(d.Event), Unobserved: d.Unobserved, Key: d.Key,
			OccurredAt: d.OccurredAt, Correlation: d.Correlation,
		}, d.Event)
	}
}
