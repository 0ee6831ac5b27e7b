package share

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/share/segment"
	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/events"
)

// shipper puts the own log into the store. It lives as long as one Run.
type shipper struct {
	*Share
	life  uint64    // 0 until it began
	rev   store.Rev // of the head that this life wrote last
	wrote time.Time // when

	unread *unread // of the own log

	bad      store.Key // where the next segment is to be, and one lies that cannot be read
	badSince time.Time
}

// adopt takes the segment that is already there in the place of the one behind f for the own one, if it holds the own records: its
// answer was lost, or what is known of shipping was. Other records are a fork. One that cannot be read is put right.
func (sh *shipper) adopt(ctx context.Context, f feed) error {
	p, err := sh.covering(ctx, sh.ownLog(), f.Last+1)
	if err != nil {
		return err
	}
	s, records, err := sh.segmentAt(ctx, sh.ownLog(), p)
	if isBad(err) {
		return sh.mendNext(ctx, p, err)
	}
	if err != nil {
		return err
	}
	link, err := linkAt(ctx, sh.cfg.Own, f, s.Last())
	if errors.Is(err, eventlog.ErrNotFound) || err == nil && link != s.Link {
		return &ForkedError{Log: sh.ownLog(), At: f.Last + 1, copied: s.Device == sh.space.Self()}
	}
	if err != nil {
		return err
	}
	if err := sh.matchErasures(ctx, p, s, records); err != nil {
		return err
	}
	return sh.advance(ctx, s.Last(), s.Link, countWithheld(records))
}

// countWithheld is how many of a segment's records travelled without their payloads, which their log has.
func countWithheld(records []events.Record) (n int) {
	for _, r := range records {
		if r.Withheld {
			n++
		}
	}
	return n
}

// rewriteAfter is how long a segment behind what is shipped must have been bad before it is written anew: another home that wrote it writes
// the head within that time, which ends this life.
const rewriteAfter = 2 * time.Minute

// mendNext writes the segment anew that lies, and cannot be read, where the next one is to be.
func (sh *shipper) mendNext(ctx context.Context, p place, why error) error {
	now := sh.cfg.Now()
	if sh.bad != p.key {
		sh.bad, sh.badSince = p.key, now
	}
	if now.Sub(sh.badSince).Abs() < rewriteAfter {
		return why
	}
	_, rev, err := sh.store.Get(ctx, sh.keys.head(sh.ownLog()))
	if err == nil && rev != sh.rev {
		sh.life = 0
		return nil
	}
	if err != nil {
		return err
	}
	last, err := sh.cfg.Own.Last(ctx)
	if err != nil {
		return err
	}
	return sh.mend(ctx, p, last)
}

// isBad reports whether a segment is missing, or not what a machine of the space made of it: reading it again may help, and else only
// to write it again. One of a newer program may be a damaged one: its owner knows.
func isBad(err error) bool {
	return errors.Is(err, errMissing) || errors.Is(err, segment.ErrDamaged) || errors.Is(err, segment.ErrSignature) ||
		errors.Is(err, segment.ErrNewer) || errors.Is(err, events.ErrCorrupt)
}

// matchErasures seals a segment of the own log anew where it has payloads that were erased in the log. What damage took of the log stays in
// the segment. Its caller has the token of shipping.
func (sh *shipper) matchErasures(ctx context.Context, p place, sealed segment.Sealed, records []events.Record) error {
	i, changed := 0, false
	for own, err := range sh.cfg.Own.All(ctx, sealed.First) {
		if err != nil {
			return err
		}
		if i == len(records) {
			break
		}
		if own.Erased && !records[i].Erased {
			unread, err := sh.unread.has(ctx, own)
			if err != nil {
				return err
			}
			if !unread {
				records[i], changed = records[i].Erase(), true
			}
		}
		i++
	}
	if !changed {
		return sh.emptyEarlier(ctx, p.earlier)
	}
	return sh.reseal(ctx, p, sealed, records)
}

// reseal puts the next edition of a segment, with these records, in the place of those before.
func (s *Share) reseal(ctx context.Context, p place, sealed segment.Sealed, records []events.Record) error {
	epoch := s.space.Manifest().Epoch
	key, err := s.space.EpochKey(epoch)
	if err != nil {
		return err
	}
	sealed.Edition = p.edition
	body, err := s.codec.Rewrite(sealed, records, epoch, key)
	if err != nil {
		return err
	}
	if _, err := s.store.Create(ctx, s.keys.segment(sealed.Log, p.first, p.edition+1), body); err != nil {
		return fmt.Errorf("seal %d to %d anew: %w", sealed.First, sealed.Last(), err)
	}
	return s.emptyEarlier(ctx, append(p.earlier, p.key))
}
