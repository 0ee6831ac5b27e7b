package cost

import (
	"sync"
	"time"
)

// clock is moved by hand. It is safe for concurrent use.
type clock struct {
	mu  sync.Mutex // guards at
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)} }

// Now is where the clock stands.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
