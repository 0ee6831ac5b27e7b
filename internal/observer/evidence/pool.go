package evidence

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Checker asks git about commits. It keeps one child a repository, at most Config.Processes; Close ends them. It is
// safe for concurrent use; questions about one repository queue.
type Checker struct {
	cfg   Config
	slots chan struct{} // as many Checks as children may run at once

	mu     sync.Mutex // guards the fields below and those of its repositories that say so
	closed bool
	clock  uint64
	repos  map[string]*repository // by common folder
}

// repository is a repository that was asked about lately.
type repository struct {
	dir  string
	turn chan struct{} // held by whoever asks

	users int         // guarded by Checker.mu
	used  uint64      // guarded by Checker.mu: the clock when it was last wanted
	child *batch      // guarded by Checker.mu: nil before the first question and after a death
	idle  *time.Timer // guarded by Checker.mu: ends the child; nil while in use
}

// NewChecker returns a Checker. Nothing is started before the first question.
func NewChecker(cfg Config) *Checker {
	cfg = cfg.withDefaults()
	return &Checker{cfg: cfg, slots: make(chan struct{}, cfg.Processes), repos: map[string]*repository{}}
}

// acquire waits until the repository may be asked. Whoever gets it releases it.
func (c *Checker) acquire(ctx context.Context, repo Repo) (*repository, error) {
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	r, evicted, err := c.claim(repo)
	if evicted != nil {
		evicted.close()
	}
	if err != nil {
		<-c.slots
		return nil, err
	}
	select {
	case r.turn <- struct{}{}:
		return r, nil
	case <-ctx.Done():
		c.leave(r)
		return nil, ctx.Err()
	}
}

var errClosed = errors.New("checker closed")

// claim finds or adds the repository and counts one more user. Where that makes too many, the one that was not wanted
// for longest goes; its child, if any, is the caller's to close. One is free: users hold slots, and there are no more.
func (c *Checker) claim(repo Repo) (r *repository, evicted *batch, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, errClosed
	}
	r, ok := c.repos[repo.CommonDir]
	if !ok {
		evicted = c.evict()
		r = &repository{turn: make(chan struct{}, 1)}
		c.repos[repo.CommonDir] = r
	}
	c.clock++
	r.dir, r.used = repo.Root, c.clock
	r.users++
	if r.idle != nil {
		r.idle.Stop()
		r.idle = nil
	}
	return r, evicted, nil
}

// evict makes room for one more repository. The caller holds mu.
func (c *Checker) evict() *batch {
	if len(c.repos) < c.cfg.Processes {
		return nil
	}
	oldest := ""
	for key, r := range c.repos {
		if r.users == 0 && (oldest == "" || r.used < c.repos[oldest].used) {
			oldest = key
		}
	}
	return c.forget(oldest)
}

// forget removes the repository and returns its child. The caller holds mu.
func (c *Checker) forget(key string) *batch {
	r := c.repos[key]
	if r == nil {
		return nil
	}
	if r.idle != nil {
		r.idle.Stop()
	}
	delete(c.repos, key)
	return r.child
}

func (c *Checker) release(r *repository) {
	<-r.turn
	c.leave(r)
}

// leave counts one user less; the last one winds up the clock that ends the child.
func (c *Checker) leave(r *repository) {
	c.mu.Lock()
	r.users--
	if r.users == 0 && !c.closed {
		r.idle = time.AfterFunc(c.cfg.Idle, func() { c.expire(r) })
	}
	c.mu.Unlock()
	<-c.slots
}

// expire ends the child of a repository that nobody wanted for Config.Idle.
func (c *Checker) expire(r *repository) {
	c.mu.Lock()
	var child *batch
	if r.users == 0 && r.idle != nil {
		for key, other := range c.repos {
			if other == r {
				child = c.forget(key)
			}
		}
	}
	c.mu.Unlock()
	if child != nil {
		child.close()
	}
}

// Close ends all children and waits for Checks that are under way, which find their claims unknown. Closing twice is
// no error.
func (c *Checker) Close() error {
	c.mu.Lock()
	first := !c.closed
	c.closed = true
	for _, r := range c.repos {
		if r.child != nil {
			r.child.kill()
		}
	}
	c.mu.Unlock()
	if !first {
		return nil
	}
	for range cap(c.slots) { // until the last user has left
		c.slots <- struct{}{}
	}
	for _, child := range c.orphans() {
		child.close()
	}
	for range cap(c.slots) {
		<-c.slots
	}
	return nil
}

// orphans takes the children that are left.
func (c *Checker) orphans() (out []*batch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range c.repos {
		if child := c.forget(key); child != nil {
			out = append(out, child)
		}
	}
	return out
}

// childOf returns the repository's child and starts it if there is none. The caller holds the repository's turn.
func (c *Checker) childOf(r *repository) (child *batch, started bool, err error) {
	c.mu.Lock()
	child, dir, closed := r.child, r.dir, c.closed
	c.mu.Unlock()
	if closed {
		return nil, false, errClosed
	}
	if child != nil {
		return child, false, nil
	}
	child, err = startBatch(c.cfg, dir)
	if err != nil {
		return nil, false, errors.New(startFailure(err))
	}
	c.mu.Lock()
	r.child = child
	if c.closed {
		child.kill()
	}
	c.mu.Unlock()
	return child, true, nil
}

// takeChild takes the child from the repository, to be closed by the caller, who holds the repository's turn.
func (c *Checker) takeChild(r *repository) *batch {
	c.mu.Lock()
	defer c.mu.Unlock()
	child := r.child
	r.child = nil
	return child
}

// bury takes a child that is of no more use from the repository and returns what it complained about.
func (c *Checker) bury(r *repository, child *batch) string {
	c.mu.Lock()
	if r.child == child {
		r.child = nil
	}
	c.mu.Unlock()
	return child.close()
}
