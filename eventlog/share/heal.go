package share

import (
	"context"
	"errors"

	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/events"
)

// heal looks at what of the own log is in the store from a record on, for a machine that could not read it, and puts there again what
// is missing or damaged, up to the first segment that is well.
func (s *Share) heal(ctx context.Context, from events.Position) error {
	if err := s.shipping.Acquire(ctx, 1); err != nil {
		return err
	}
	defer s.shipping.Release(1)
	for next := from; next <= s.feedOf(s.ownLog()).Last; {
		p, err := s.covering(ctx, s.ownLog(), next)
		switch {
		case errors.Is(err, errMissing):
			err = s.fill(ctx, next, p.followed)
		case err == nil:
			sealed, _, bad := s.segmentAt(ctx, s.ownLog(), p)
			switch {
			case bad == nil && sealed.Last() >= next:
				return nil
			case bad == nil:
				err = s.fill(ctx, sealed.Last()+1, p.followed)
			case isBad(bad):
				err = s.mend(ctx, p, s.feedOf(s.ownLog()).Last)
			default:
				err = bad
			}
		}
		if err != nil {
			return err
		}
		if next, err = s.endOf(ctx, next); err != nil {
			return err
		}
	}
	return nil
}

// endOf is behind the segment that holds a record.
func (s *Share) endOf(ctx context.Context, at events.Position) (events.Position, error) {
	p, err := s.covering(ctx, s.ownLog(), at)
	if err != nil {
		return 0, err
	}
	sealed, _, err := s.segmentAt(ctx, s.ownLog(), p)
	return max(sealed.Last(), at) + 1, err
}

// fill creates segments of the own log from a record up to the one before followed; to the end of what is shipped where that is 0.
// Its caller has the token of shipping.
func (s *Share) fill(ctx context.Context, first, followed events.Position) error {
	to := s.feedOf(s.ownLog()).Last
	if followed > 0 {
		to = followed - 1
	}
	return s.write(ctx, first, to, 0)
}

// mend puts the next edition of a segment of the own log, up to the record last, in the place of one that is bad. Its caller has the
// token of shipping.
func (s *Share) mend(ctx context.Context, p place, last events.Position) error {
	to := last
	if p.followed > 0 {
		to = min(last, p.followed-1)
	}
	if err := s.write(ctx, p.first, to, p.edition+1); err != nil {
		return err
	}
	return s.emptyEarlier(ctx, append(p.earlier, p.key))
}

// write creates one segment of the own log, from the record first up to to at most.
func (s *Share) write(ctx context.Context, first, to events.Position, edition uint32) error {
	link, err := linkAt(ctx, s.cfg.Own, feed{}, first-1)
	if err != nil {
		return err
	}
	b, _, err := s.gather(ctx, feed{Last: first - 1, Link: link}, to)
	if err != nil || b.Len() == 0 {
		return err
	}
	body, err := s.sealed(b, 0, edition)
	if err != nil {
		return err
	}
	_, err = s.store.Create(ctx, s.keys.segment(s.ownLog(), first, edition), body)
	if errors.Is(err, store.ErrExists) {
		return nil // somebody was faster; whoever reads it next looks at it
	}
	return err
}
