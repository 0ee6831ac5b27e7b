package segment

import (
	"crypto/ed25519"
	"encoding/binary"
	"fmt"

	"github.com/cmemd/cmemd/events"
)

// A Batch gathers the records of a segment in their order. It is used by one goroutine.
type Batch struct {
	first    events.Position
	count    int
	previous events.Hash
	linker   Linker
	plain    []byte
}

// NewBatch returns an empty batch of the records that follow the one whose link previous is; zero at the beginning of a log.
func NewBatch(previous events.Hash) *Batch {
	return &Batch{previous: previous, linker: Linker{Link: previous}}
}

// Add adds r, which follows the record that was added last. It reports false, and leaves the batch as it was, where the batch has no
// room for it. What an empty batch has no room for, no segment has: its payload must be withheld.
func (b *Batch) Add(r events.Record) (bool, error) {
	if b.count > 0 && r.Position != b.first+events.Position(b.count) {
		return false, fmt.Errorf("segment: record %d does not follow %d", r.Position, b.first+events.Position(b.count)-1)
	}
	if b.count == MaxRecords {
		return false, nil
	}
	start := len(b.plain)
	plain, err := appendStored(b.plain, r)
	if err != nil {
		return false, err
	}
	if len(plain) > MaxPlain {
		b.plain = plain[:start]
		return false, nil
	}
	if err := b.linker.Add(r); err != nil {
		return false, err
	}
	if b.count == 0 {
		b.first = r.Position
	}
	b.plain, b.count = plain, b.count+1
	return true, nil
}

func appendStored(b []byte, r events.Record) ([]byte, error) {
	start := len(b)
	b, err := r.AppendBinary(append(b, 0, 0, 0, 0))
	if err != nil {
		return b, err
	}
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-4))
	return b, nil
}

// Len is how many records the batch holds.
func (b *Batch) Len() int { return b.count }

// Last is the position of the batch's last record, Link its link.
func (b *Batch) Last() events.Position { return b.first + events.Position(b.count) - 1 }
func (b *Batch) Link() events.Hash     { return b.linker.Link }

// Seal returns the batch as a segment, signed with key and sealed for an epoch. Of h it takes space, log, device, life, time, reads,
// edition and epoch. The batch must not be empty.
func (c *Codec) Seal(h Header, b *Batch, key ed25519.PrivateKey, epoch EpochKey) []byte {
	h.Kind, h.First, h.Count, h.Previous, h.Link = Whole, b.first, b.count, b.previous, b.linker.Link
	h.Reads = h.Reads[:min(len(h.Reads), MaxReads)]
	h.sign(key)
	return c.seal(h, b.plain, epoch)
}

// Rewrite returns a segment that was opened with records in the place of its own, which are the same ones but for payloads that were
// left out. It is sealed under another key, in the next edition and for the epoch given; its signature stays.
func (c *Codec) Rewrite(s Sealed, records []events.Record, number uint32, epoch EpochKey) ([]byte, error) {
	b := NewBatch(s.Previous)
	for _, r := range records {
		if ok, err := b.Add(r); err != nil || !ok {
			return nil, fmt.Errorf("segment: rewrite %d to %d: record %d does not fit: %w", s.First, s.Last(), r.Position, err)
		}
	}
	if b.count != s.Count || b.linker.Link != s.Link {
		return nil, fmt.Errorf("%w: rewritten with other records", ErrDamaged)
	}
	h := s.Header
	h.Edition, h.Epoch = h.Edition+1, number
	return c.seal(h, b.plain, epoch), nil
}
