package sharing

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/internal/transient"
)

// lazyStore is a store that is opened by the first call, and by a later one again where that failed. Opening goes on in a goroutine of
// its own, one at a time, so that a store that hangs holds up a call no longer than the call's context says.
type lazyStore struct {
	open func() (store.Store, error)

	mu      sync.Mutex    // guards the fields below
	opening chan struct{} // closed when the attempt that is under way has ended; nil: none is
	opened  store.Store   // nil: it is not open
	err     error         // of the last attempt
	closed  bool
}

// get returns the open store. Errors may pass, but for store.ErrClosed.
func (l *lazyStore) get(ctx context.Context) (store.Store, error) {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil, store.ErrClosed
	}
	if l.opened != nil {
		defer l.mu.Unlock()
		return l.opened, nil
	}
	if l.opening == nil {
		l.opening = make(chan struct{})
		go l.attempt(l.opening)
	}
	opening := l.opening
	l.mu.Unlock()
	select {
	case <-opening:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opened == nil {
		return nil, transient.Mark(l.err)
	}
	return l.opened, nil
}

// attempt opens the store once.
func (l *lazyStore) attempt(ended chan struct{}) {
	s, err := l.open()
	l.mu.Lock()
	defer l.mu.Unlock()
	defer close(ended)
	l.opening, l.opened, l.err = nil, s, err
	if l.closed && s != nil {
		l.opened, l.err = nil, errors.Join(store.ErrClosed, s.Close())
	}
}

// Create implements store.Store.
func (l *lazyStore) Create(ctx context.Context, key store.Key, body []byte) (store.Rev, error) {
	s, err := l.get(ctx)
	if err != nil {
		return "", err
	}
	return s.Create(ctx, key, body)
}

// Replace implements store.Store.
func (l *lazyStore) Replace(ctx context.Context, key store.Key, rev store.Rev, body []byte) (store.Rev, error) {
	s, err := l.get(ctx)
	if err != nil {
		return "", err
	}
	return s.Replace(ctx, key, rev, body)
}

// Get implements store.Store.
func (l *lazyStore) Get(ctx context.Context, key store.Key) ([]byte, store.Rev, error) {
	s, err := l.get(ctx)
	if err != nil {
		return nil, "", err
	}
	return s.Get(ctx, key)
}

// List implements store.Store.
func (l *lazyStore) List(ctx context.Context, prefix string, after store.Key, limit int) ([]store.Entry, error) {
	s, err := l.get(ctx)
	if err != nil {
		return nil, err
	}
	return s.List(ctx, prefix, after, limit)
}

// Delete implements store.Store.
func (l *lazyStore) Delete(ctx context.Context, key store.Key, rev store.Rev) error {
	s, err := l.get(ctx)
	if err != nil {
		return err
	}
	return s.Delete(ctx, key, rev)
}

// Watch implements store.Store.
func (l *lazyStore) Watch(ctx context.Context, prefix string) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) {
		s, err := l.get(ctx)
		if err != nil {
			if ctx.Err() == nil {
				yield(store.Entry{}, err)
			}
			return
		}
		for e, err := range s.Watch(ctx, prefix) {
			if !yield(e, err) {
				return
			}
		}
	}
}

// Overwrites implements store.Store. Before the store is open nothing is promised.
func (l *lazyStore) Overwrites() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.opened != nil && l.opened.Overwrites()
}

// Close implements store.Store. It does not wait for an attempt that is under way.
func (l *lazyStore) Close() error {
	l.mu.Lock()
	s, was := l.opened, l.closed
	l.closed = true
	l.mu.Unlock()
	if was || s == nil {
		return nil
	}
	if err := s.Close(); err != nil {
		return fmt.Errorf("close the store: %w", err)
	}
	return nil
}
