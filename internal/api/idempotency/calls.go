package idempotency

import (
	"crypto/sha256"
	"errors"
	"slices"
	"sync"
	"time"
)

const (
	// MaxKey is the longest key in bytes: a UUID has 36.
	MaxKey = 128

	// keptFor is for how long an answer is kept for who asks once more, and maxKept how many are: an answer is some hundred bytes.
	keptFor = 24 * time.Hour
	maxKept = 1000
)

// What Do returns where it does not run anything.
var (
	ErrAnother  = errors.New("idempotency: the key was given to another request")
	ErrUnderWay = errors.New("idempotency: the request with this key has not been answered yet")
)

// IsKey reports whether a text may be a key: 1 to MaxKey letters, digits and signs, without spaces.
func IsKey(text string) bool {
	return text != "" && len(text) <= MaxKey && !slices.ContainsFunc([]byte(text), func(c byte) bool { return c <= ' ' || c > '~' })
}

// Key is a caller's key for one route: one caller's are not those of another.
type Key struct{ Caller, Route, Text string }

// Calls are those that were answered lately. The zero value has none. It is safe for concurrent use.
type Calls struct {
	Now func() time.Time // nil: time.Now

	mu    sync.Mutex // guards the fields below, and those of each call
	by    map[Key]*call
	order []Key // of by, the oldest first
}

type call struct {
	asked  [sha256.Size]byte
	began  time.Time
	done   bool
	answer any // once it is done
}

// Do returns what run does, and keeps it under key unless run fails or panics; where the same was asked under key before, it returns
// that answer. Asked is what was asked. Errors are run's, ErrAnother and ErrUnderWay.
func (c *Calls) Do(key Key, asked []byte, run func() (any, error)) (any, error) {
	mine, answer, err := c.claim(key, sha256.Sum256(asked))
	if mine == nil {
		return answer, err
	}
	defer c.settle(key, mine)
	answer, err = run()
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		mine.answer, mine.done = answer, true
	}
	return answer, err
}

// claim enters a new call, or returns the answer or the error of the one that has the key.
func (c *Calls) claim(key Key, asked [sha256.Size]byte) (mine *call, answer any, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	c.evict(now)
	switch had := c.by[key]; {
	case had == nil:
	case had.asked != asked:
		return nil, nil, ErrAnother
	case !had.done:
		return nil, nil, ErrUnderWay
	default:
		return nil, had.answer, nil
	}
	if c.by == nil {
		c.by = map[Key]*call{}
	}
	mine = &call{asked: asked, began: now}
	c.by[key], c.order = mine, append(c.order, key)
	return mine, nil, nil
}

func (c *Calls) now() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}

// evict drops calls that are too old, and the oldest where there are too many. mu is held.
func (c *Calls) evict(now time.Time) {
	for len(c.order) > 0 && (len(c.order) >= maxKept || now.Sub(c.by[c.order[0]].began) > keptFor) {
		delete(c.by, c.order[0])
		c.order = c.order[1:]
	}
}

// settle takes a call back that was not answered: it may be tried again.
func (c *Calls) settle(key Key, mine *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if mine.done || c.by[key] != mine {
		return
	}
	delete(c.by, key)
	c.order = slices.DeleteFunc(c.order, func(k Key) bool { return k == key })
}
