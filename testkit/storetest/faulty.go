package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/internal/transient"
)

// ErrFault is what calls over a Faulty fail with; it may pass.
var ErrFault = transient.Mark(errors.New("store: the connection failed"))

// Faults are what is wrong with one connection to a Memory. The zero value is nothing. Chances are from 0 to 1, of each call.
type Faults struct {
	Cut    bool          // nothing goes through: calls fail with ErrFault, and a watch waits
	Refuse float64       // a call fails with ErrFault and is not done; a watch ends with it
	Lose   float64       // a call is done and fails with ErrFault; a watch passes over a change
	Stale  float64       // Get answers with some earlier state, or that there is none yet
	Hide   float64       // of each entry: List leaves it out
	Flip   float64       // Get answers with a body in which one bit is another
	Delay  time.Duration // a call takes up to this long before it is done and after
}

// Faulty is one machine's connection to a Memory, with the faults that were set last. It is a store.Store, but for its faults.
type Faulty struct {
	memory *Memory
	done   chan struct{} // closed by Close

	mu     sync.Mutex // guards the fields below
	faults Faults
	random *rand.Rand
	closed bool
}

// Set makes f the faults from now on. Calls under way have those of before.
func (c *Faulty) Set(f Faults) {
	c.mu.Lock()
	c.faults = f
	c.mu.Unlock()
	c.memory.mu.Lock()
	defer c.memory.mu.Unlock()
	c.memory.wake() // watches look whether they are cut
}

// callFault is what happens to one call.
type callFault struct {
	refused, lost, stale, flip bool
	before, after              time.Duration
	state                      float64 // which earlier one, or which bit
}

// drawFault says what happens to the next call.
func (c *Faulty) drawFault() (callFault, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return callFault{}, store.ErrClosed
	}
	f := c.faults
	hit := func(chance float64) bool { return chance > 0 && c.random.Float64() < chance }
	l := callFault{
		refused: f.Cut || hit(f.Refuse), lost: hit(f.Lose), stale: hit(f.Stale), flip: hit(f.Flip), state: c.random.Float64(),
	}
	if f.Delay > 0 {
		l.before, l.after = time.Duration(c.random.Int64N(int64(f.Delay))), time.Duration(c.random.Int64N(int64(f.Delay)))
	}
	return l, nil
}

// call does one call, with what happens to it.
func (c *Faulty) call(ctx context.Context, name string, key store.Key, check error, do func(callFault) error) error {
	l, err := c.drawFault()
	err = cmp.Or(err, check, ctx.Err(), c.pause(ctx, l.before))
	switch {
	case err != nil:
	case l.refused:
		err = ErrFault
	default:
		err = do(l)
		if late := c.pause(ctx, l.after); late != nil {
			err = late
		} else if l.lost {
			err = ErrFault
		}
	}
	if err != nil {
		return fmt.Errorf("store: %s %s: %w", name, key, err)
	}
	return nil
}

// pause waits for d, and returns the error of what ended before.
func (c *Faulty) pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.done:
		return store.ErrClosed
	}
}

// Create implements store.Store.
func (c *Faulty) Create(ctx context.Context, key store.Key, body []byte) (rev store.Rev, err error) {
	err = c.call(ctx, "create", key, store.CheckBody(key, body), func(callFault) (err error) {
		rev, err = c.memory.create(key, body)
		return err
	})
	return orNone(rev, err), err
}

// Replace implements store.Store.
func (c *Faulty) Replace(ctx context.Context, key store.Key, at store.Rev, body []byte) (rev store.Rev, err error) {
	err = c.call(ctx, "replace", key, store.CheckBody(key, body), func(callFault) (err error) {
		rev, err = c.memory.replace(key, at, body)
		return err
	})
	return orNone(rev, err), err
}

// orNone is v unless there is an error.
func orNone[T any](v T, err error) (_ T) {
	if err != nil {
		return
	}
	return v
}

// Get implements store.Store.
func (c *Faulty) Get(ctx context.Context, key store.Key) (body []byte, rev store.Rev, err error) {
	err = c.call(ctx, "get", key, key.Check(), func(l callFault) (err error) {
		body, rev, err = c.memory.get(key, func(states int) int {
			if !l.stale {
				return states - 1
			}
			return int(l.state*float64(states+1)) - 1
		})
		if l.flip && len(body) > 0 {
			bit := int(l.state * float64(8*len(body)))
			body[bit/8] ^= 1 << (bit % 8)
		}
		return err
	})
	return orNone(body, err), orNone(rev, err), err
}

// List implements store.Store.
func (c *Faulty) List(ctx context.Context, prefix string, after store.Key, limit int) (found []store.Entry, err error) {
	err = c.call(ctx, "list", store.Key(prefix), store.CheckPrefix(prefix), func(callFault) error {
		all, _ := c.memory.list(prefix)
		all = slices.DeleteFunc(all, func(e store.Entry) bool { return e.Key <= after || c.hides() })
		found = all[:min(len(all), store.Limit(limit))]
		return nil
	})
	return orNone(found, err), err
}

func (c *Faulty) hides() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.faults.Hide > 0 && c.random.Float64() < c.faults.Hide
}

// Delete implements store.Store.
func (c *Faulty) Delete(ctx context.Context, key store.Key, at store.Rev) error {
	return c.call(ctx, "delete", key, key.Check(), func(callFault) error { return c.memory.remove(key, at) })
}

// Watch implements store.Store.
func (c *Faulty) Watch(ctx context.Context, prefix string) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) {
		if err := store.CheckWatch(prefix); err != nil {
			yield(store.Entry{}, err)
			return
		}
		seen := map[store.Key]store.Rev{}
		for ctx.Err() == nil {
			all, changed := c.memory.list(prefix)
			if !c.isCut() && !c.yieldNew(ctx, all, seen, yield) {
				return
			}
			wait(ctx, c.done, changed)
			if _, err := c.drawFault(); err != nil {
				yield(store.Entry{}, fmt.Errorf("store: watch %s: %w", prefix, err))
				return
			}
		}
	}
}

// yieldNew yields what is not seen yet, and reports whether the watch goes on.
func (c *Faulty) yieldNew(ctx context.Context, all []store.Entry, seen map[store.Key]store.Rev, yield func(store.Entry, error) bool) bool {
	for _, e := range all {
		if seen[e.Key] == e.Rev {
			continue
		}
		l, err := c.drawFault()
		if err == nil && l.refused {
			err = ErrFault
		}
		if err = cmp.Or(err, c.pause(ctx, l.before)); err != nil {
			if ctx.Err() == nil {
				yield(store.Entry{}, fmt.Errorf("store: watch %s: %w", e.Key, err))
			}
			return false
		}
		seen[e.Key] = e.Rev
		if !l.lost && !yield(e, nil) {
			return false
		}
	}
	return true
}

func (c *Faulty) isCut() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.faults.Cut
}

// Overwrites implements store.Store.
func (c *Faulty) Overwrites() bool { return true }

// Close implements store.Store.
func (c *Faulty) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.closed = true
		close(c.done)
	}
	return nil
}
