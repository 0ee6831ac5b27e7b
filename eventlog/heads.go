package eventlog

import (
	"encoding/binary"
	"maps"
	"sync"

	"github.com/cmemd/cmemd/events"
)

// head is the end of a stream.
type head struct {
	Version events.Version
	Last    events.Position
	Chain   events.Hash
}

// after is the head once r has been added.
func after(r events.Record) head {
	return head{Version: r.Version, Last: r.Position, Chain: r.Chain}
}

// headSize is the length of a stored head: version, last position, chain.
const headSize = 8 + 8 + len(events.Hash{})

// maxHeads bounds the cache of heads to about 10 MiB; a log with more live streams than that is read again.
const maxHeads = 1 << 16

func (h head) appendTo(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(h.Version))
	b = binary.BigEndian.AppendUint64(b, uint64(h.Last))
	return append(b, h.Chain[:]...)
}

func parseHead(stream events.StreamID, b []byte) (head, error) {
	if len(b) != headSize {
		return head{}, corruptf(0, stream, "head of %d bytes", len(b))
	}
	h := head{
		Version: events.Version(binary.BigEndian.Uint64(b)),
		Last:    events.Position(binary.BigEndian.Uint64(b[8:])),
		Chain:   events.Hash(b[16:]),
	}
	if h.Version == 0 || h.Last == 0 || uint64(h.Version) > uint64(h.Last) {
		return head{}, corruptf(h.Last, stream, "head has version %d", h.Version)
	}
	return h, nil
}

// headCache remembers committed heads.
type headCache struct {
	mu    sync.RWMutex // guards heads
	heads map[events.StreamID]head
}

func (c *headCache) get(stream events.StreamID) (head, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	h, ok := c.heads[stream]
	return h, ok
}

// merge takes the heads of a committed batch, or one that was read. Only the writer calls it, so that a head which was
// read before a commit never replaces the one after it.
func (c *headCache) merge(heads map[events.StreamID]head) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.heads == nil || len(c.heads)+len(heads) > maxHeads {
		c.heads = make(map[events.StreamID]head, len(heads))
	}
	maps.Copy(c.heads, heads)
}
