package eventlog

import (
	"sync"

	"github.com/cmemd/cmemd/events"
)

const (
	// maxRecent is how many of the newest records are kept, and maxRecentBytes how much memory their payloads take. A place takes less than
	// 400 bytes, so that a log holds 2.5 MiB at most, and nothing until something is appended. Whoever follows a log is behind by less, and an
	// observer's turn reads inputs of the last minutes.
	maxRecent      = 2048
	maxRecentBytes = 1600 << 10

	// maxRecentPayload is the largest payload that is kept: a larger one would take the room of many, and is seldom asked for.
	maxRecentPayload = 64 << 10
)

// recent is the newest records that were appended, as they are in the file, so that readers who are near the end of the log share them:
// each would need a transaction and a copy of its own. It has what is durable alone. What was restored is not in it: those records are
// parts of larger buffers.
type recent struct {
	mu     sync.RWMutex    // guards the fields below
	places []events.Record // the record at p is at p modulo their number, a power of two; zero: none
	oldest events.Position // none that is kept lies before it
	newest events.Position // none that is kept lies behind it
	bytes  int             // that payloads take
}

// add keeps records that were committed, the newest of the log, and lets go of older ones.
func (c *recent) add(records []events.Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range records {
		if size := r.PayloadRoom(); size <= maxRecentPayload {
			c.makeRoom(r.Position, size)
			c.places[c.index(r.Position)] = r
			c.newest = r.Position
			c.bytes += size
		}
	}
}

// makeRoom lets go of the oldest records until there is a place and room for one at position at, behind all others.
func (c *recent) makeRoom(at events.Position, size int) {
	for ; c.oldest <= c.newest && (at-c.oldest >= maxRecent || c.bytes+size > maxRecentBytes); c.oldest++ {
		c.drop(c.oldest)
	}
	if c.oldest > c.newest || c.newest == 0 {
		c.oldest = at
	}
	if n := events.Position(len(c.places)); at-c.oldest >= n {
		c.grow(at - c.oldest + 1)
	}
}

// grow makes at least n places of the ones there are.
func (c *recent) grow(n events.Position) {
	size := max(64, len(c.places))
	for events.Position(size) < n {
		size *= 2
	}
	old := c.places
	c.places = make([]events.Record, size)
	for _, r := range old {
		if r.Position != 0 {
			c.places[c.index(r.Position)] = r
		}
	}
}

func (c *recent) index(at events.Position) int { return int(at) & (len(c.places) - 1) }

// drop lets go of the record at a position, if it is kept.
func (c *recent) drop(at events.Position) {
	if c.keeps(at) {
		r := &c.places[c.index(at)]
		c.bytes -= r.PayloadRoom()
		*r = events.Record{}
	}
}

// forget lets go of records that were stripped.
func (c *recent) forget(at []events.Position) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range at {
		c.drop(p)
	}
}

// get returns the record at a position, if it is kept.
func (c *recent) get(at events.Position) (events.Record, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if !c.keeps(at) {
		return events.Record{}, false
	}
	return c.places[c.index(at)], true
}

// has reports whether the record at a position is kept.
func (c *recent) has(at events.Position) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.keeps(at)
}

func (c *recent) keeps(at events.Position) bool {
	return at != 0 && len(c.places) > 0 && c.places[c.index(at)].Position == at
}

// missing returns how far nothing is kept, from a position on and up to and with another: the file has to be read so far.
func (c *recent) missing(from, to events.Position) events.Position {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for p := max(from, c.oldest); p <= min(to, c.newest); p++ {
		if c.keeps(p) {
			return p - 1
		}
	}
	return to
}
