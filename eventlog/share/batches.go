package share

import (
	"context"

	"github.com/cmemd/cmemd/eventlog/share/segment"
	"github.com/cmemd/cmemd/eventlog/share/space"
	"github.com/cmemd/cmemd/events"
)

// gather returns a batch of the own log's records behind a feed: up to the position to, or as many as it takes where to is 0. withheld
// are those of them that are too large to travel.
func (s *Share) gather(ctx context.Context, f feed, to events.Position) (b *segment.Batch, withheld int, err error) {
	b = segment.NewBatch(f.Link)
	for r, err := range s.cfg.Own.All(ctx, f.Last+1) {
		if err != nil {
			return nil, 0, err
		}
		if to > 0 && r.Position > to {
			break
		}
		ok, err := b.Add(r)
		if err == nil && !ok && b.Len() == 0 {
			withheld++
			ok, err = b.Add(r.Withhold())
		}
		if err != nil {
			return nil, 0, err
		}
		if !ok {
			break
		}
	}
	return b, withheld, nil
}

// sealed is a batch as a segment of the present epoch.
func (s *Share) sealed(b *segment.Batch, life uint64, edition uint32) ([]byte, error) {
	m := s.space.Manifest()
	if self, ok := m.Machine(s.space.Self()); !ok || !self.Current() {
		return nil, space.ErrRevoked
	}
	key, err := s.space.EpochKey(m.Epoch)
	if err != nil {
		return nil, err
	}
	h := segment.Header{
		Space: s.space.ID(), Log: s.ownLog(), Device: s.space.Self(), Life: life, SealedAt: s.cfg.Now(), Edition: edition, Epoch: m.Epoch,
	}
	for _, p := range s.cfg.Copies.Reads(b.Last()) { // as its last record was written, also where that was long ago
		h.Reads = append(h.Reads, segment.Read{Log: s.storeLog(p.Log), At: p.Position})
	}
	return s.codec.Seal(h, b, s.space.Keys().Signer(), key), nil
}

// advance keeps that the own log is shipped up to a record, with so many more records withheld.
func (s *Share) advance(ctx context.Context, at events.Position, link events.Hash, withheld int) error {
	f, err := s.feedAt(ctx, at, link)
	if err != nil {
		return err
	}
	f.Withheld += withheld
	if err := s.setFeed(s.ownLog(), f); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.announce()
	signal(s.wake) // what is forgotten may wait for this
	return nil
}

// feedAt is what is known of the own log, shipped up to a record.
func (s *Share) feedAt(ctx context.Context, at events.Position, link events.Hash) (feed, error) {
	r, err := s.cfg.Own.Get(ctx, at)
	f := s.feedOf(s.ownLog())
	f.Machine, f.Last, f.Link, f.Chain = s.space.Self(), at, link, r.Chain
	return f, err
}
