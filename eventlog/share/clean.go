package share

import (
	"context"
	"errors"
	"slices"

	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/transient"
)

// errNotShipped is returned where shipping has to go on first.
var errNotShipped = transient.Mark(errors.New("share: it was not shipped yet"))

// clean seals anew the segments of the store that hold what a note names: those of the own log, and all where this machine asked.
// It returns errNotShipped where the own log was not shipped as far.
func (s *Share) clean(ctx context.Context, n note) error {
	for _, t := range n.Logs {
		own := t.Log == s.ownLog()
		if !own && n.Machine != s.space.Self() {
			continue
		}
		if err := s.cleanLog(ctx, t, own); err != nil {
			return err
		}
	}
	return nil
}

func (s *Share) cleanLog(ctx context.Context, t target, own bool) error {
	if err := s.shipping.Acquire(ctx, 1); err != nil {
		return err
	}
	defer s.shipping.Release(1)
	at := t.positions()
	if len(at) == 0 {
		return nil
	}
	if own {
		last, err := s.cfg.Own.Last(ctx)
		if err != nil {
			return err
		}
		shipped := s.feedOf(t.Log).Last
		if shipped < min(last, at[len(at)-1]) && !s.isForked() {
			return errNotShipped
		}
		at = slices.DeleteFunc(at, func(p events.Position) bool { return p > shipped }) // it never gets there
	}
	for len(at) > 0 {
		var err error
		if at, err = s.cleanSegment(ctx, t.Log, at, own); err != nil {
			return err
		}
	}
	return nil
}

func (s *Share) isForked() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.forked != nil
}

// want has the owner of a log asked for a segment that is bad, or no longer.
func (s *Share) want(log events.LogID, at events.Position, bad bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.unclean, log)
	if bad {
		s.unclean[log] = at
	}
}

// confirmationsOfLoss is how often a record must be in no segment that is listed before that is believed.
const confirmationsOfLoss = 3

// passOver goes on behind a record that is in no segment, once that is sure. Of the own log it is put there again, as it is now.
func (s *Share) passOver(ctx context.Context, log events.LogID, at []events.Position, own bool, p place) ([]events.Position, error) {
	where := events.Place{Log: log, Position: at[0]}
	if s.missed[where]++; s.missed[where] < confirmationsOfLoss {
		return at, errNotShipped
	}
	delete(s.missed, where)
	if !own {
		return at[1:], nil
	}
	return at[1:], s.fill(ctx, at[0], p.followed)
}

// cleanSegment cleans the segment that holds the first of some positions, and returns those behind it. Its caller has the token of
// shipping.
func (s *Share) cleanSegment(ctx context.Context, log events.LogID, at []events.Position, own bool) ([]events.Position, error) {
	p, err := s.covering(ctx, log, at[0])
	if errors.Is(err, errMissing) {
		return s.passOver(ctx, log, at, own, p)
	}
	if err != nil {
		return at, err
	}
	sealed, records, err := s.segmentAt(ctx, log, p)
	if isBad(err) && own {
		return at, errors.Join(s.mend(ctx, p, s.feedOf(log).Last), errNotShipped)
	}
	s.want(log, at[0], isBad(err))
	if err != nil {
		return at, err
	}
	if sealed.Last() < at[0] {
		return s.passOver(ctx, log, at, own, p)
	}
	delete(s.missed, events.Place{Log: log, Position: at[0]})
	changed := false
	for len(at) > 0 && at[0] <= sealed.Last() {
		if r := &records[at[0]-sealed.First]; !r.Erased || r.Withheld {
			changed = changed || !r.Erased
			*r = r.Erase()
		}
		at = at[1:]
	}
	if !changed {
		return at, s.emptyEarlier(ctx, p.earlier)
	}
	if err = s.reseal(ctx, p, sealed, records); errors.Is(err, store.ErrExists) {
		err = transient.Mark(err) // another machine does the same
	}
	return at, err
}
