package share

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/cmemd/cmemd/eventlog/share/segment"
	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/transient"
)

// errMissing is returned for a segment that is not in the store, though a later one is, or its log's head says that it was there.
var errMissing = errors.New("a segment is missing in the store")

// place is where a segment lies.
type place struct {
	key      store.Key
	first    events.Position
	edition  uint32          // the highest
	earlier  []store.Key     // the keys of its earlier editions
	followed events.Position // the first record of the segment behind it; 0 if there is none
}

// lookbackWindows are how far before a record a segment that holds it is looked for, one after the other: those of a person's work are short, and
// none is longer than the last. A store may open a file for each one that it lists.
var lookbackWindows = []events.Position{15, 127, segment.MaxRecords - 1}

// covering returns where the segment lies that holds the record at a position, if there is one: the last that begins there or before.
func (s *Share) covering(ctx context.Context, log events.LogID, at events.Position) (p place, err error) {
	for _, window := range lookbackWindows {
		if p, err = s.lastWithin(ctx, log, at-min(at-1, window), at); err != nil || p.key != "" {
			return p, err
		}
	}
	return p, fmt.Errorf("%w: %d is in none", errMissing, at)
}

// spareListed is how many more are listed than segments there can be: earlier editions, and the segment behind them.
const spareListed = 16

// lastWithin returns where the last segment lies that begins from one position to another; without a key if none does.
func (s *Share) lastWithin(ctx context.Context, log events.LogID, from, to events.Position) (p place, err error) {
	for next, err := range s.segments(ctx, log, from, int(to-from)+spareListed) {
		if err != nil {
			return p, err
		}
		if next.first > to {
			p.followed = next.first
			break
		}
		p = next
	}
	return p, nil
}

// segments yields where the segments of a log lie that begin at a position or later, listing so many objects at once.
func (s *Share) segments(ctx context.Context, log events.LogID, from events.Position, atOnce int) iter.Seq2[place, error] {
	return func(yield func(place, error) bool) {
		var p place
		prefix := s.keys.segmentPrefix(log)
		for e, err := range store.AllBy(ctx, s.store, prefix, s.keys.before(log, from), atOnce) {
			if err != nil {
				yield(place{}, err)
				return
			}
			first, edition, ok := parseSegment(strings.TrimPrefix(string(e.Key), prefix))
			switch {
			case !ok:
				continue
			case first == p.first:
				p.earlier = append(p.earlier, p.key)
			case p.key != "" && !yield(p, nil):
				return
			default:
				p.earlier = nil
			}
			p.key, p.first, p.edition = e.Key, first, edition
		}
		if p.key != "" {
			yield(p, nil)
		}
	}
}

// following returns where the segment lies that holds the record at a position, for who reads one after another: places is what was
// listed, and is the reader's.
func (s *Share) following(ctx context.Context, log events.LogID, at events.Position, places *[]place) (p place, err error) {
	if len(*places) == 0 {
		for next, err := range s.segments(ctx, log, at, listedAtOnce) {
			if err != nil {
				return p, err
			}
			if *places = append(*places, next); len(*places) == listedAtOnce-1 {
				break // what more there is stands on the next page
			}
		}
	}
	if all := *places; len(all) > 0 && all[0].first == at {
		*places = all[1:]
		return all[0], nil
	}
	*places = nil
	return s.covering(ctx, log, at)
}

// listedAtOnce is how many segments are listed at once by who reads one after another.
const listedAtOnce = 256

// segmentAt returns the segment at a place, verified, and its records.
func (s *Share) segmentAt(ctx context.Context, log events.LogID, p place) (segment.Sealed, []events.Record, error) {
	body, _, err := s.store.Get(ctx, p.key)
	if err != nil {
		return segment.Sealed{}, nil, err
	}
	if len(body) == 0 {
		return segment.Sealed{}, nil, fmt.Errorf("%w: the one at %d was sealed anew, and is not there", errMissing, p.first)
	}
	return s.openSegment(log, p.first, body)
}

// openSegment returns a segment, verified, and its records.
func (s *Share) openSegment(log events.LogID, first events.Position, body []byte) (segment.Sealed, []events.Record, error) {
	sealed, err := segment.Parse(body)
	if err != nil {
		return sealed, nil, err
	}
	if sealed.Space != s.space.ID() || sealed.Log != log || sealed.First != first {
		return sealed, nil, fmt.Errorf("%w: it lies in the place of another", segment.ErrDamaged)
	}
	m := s.space.Manifest()
	machine, ok := m.Machine(sealed.Device)
	if !ok || !m.Accepts(sealed.Device, log, sealed.Last()) {
		return sealed, nil, fmt.Errorf("%w: no machine of the space wrote %d to %d", segment.ErrSignature, sealed.First, sealed.Last())
	}
	if err := sealed.Verify(machine.Public.Sign); err != nil {
		return sealed, nil, err
	}
	if sealed.Epoch == 0 || sealed.Epoch > m.Epoch { // an epoch is begun before anything is sealed in it, and this number is not signed
		return sealed, nil, fmt.Errorf("%w: sealed in epoch %d, and the space began %d", segment.ErrDamaged, sealed.Epoch, m.Epoch)
	}
	key, err := s.space.EpochKey(sealed.Epoch)
	if err != nil {
		return sealed, nil, err
	}
	records, err := s.codec.Open(sealed, key)
	return sealed, records, err
}

// emptyEarlier takes away the bytes of earlier editions, and puts empty bodies in their place, so that nobody creates them again.
func (s *Share) emptyEarlier(ctx context.Context, earlier []store.Key) error {
	for _, key := range earlier {
		body, rev, err := s.store.Get(ctx, key)
		switch {
		case err != nil || len(body) == 0:
		case s.store.Overwrites():
			if err = s.store.Delete(ctx, key, rev); err == nil {
				_, err = s.store.Create(ctx, key, nil)
			}
		default:
			_, err = s.store.Replace(ctx, key, rev, nil)
		}
		if errors.Is(err, store.ErrNotFound) { // it was listed: who buried it has been stopped in between
			_, err = s.store.Create(ctx, key, nil)
		}
		if errors.Is(err, store.ErrMoved) || errors.Is(err, store.ErrExists) {
			err = transient.Mark(err) // what is listed next time tells
		}
		if err != nil {
			return err
		}
	}
	return nil
}
