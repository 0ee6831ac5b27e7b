package server

import (
	"sync"
	"sync/atomic"
	"time"
)

// lifetime counts what is under way, and ends it.
type lifetime struct {
	requests, streams atomic.Int64
	helpers           sync.WaitGroup // goroutines that a request left behind
	starting          sync.Mutex     // orders the start of helpers and the end
	ending            chan struct{}  // closed at the end: streams end then
	once              sync.Once
}

// wait waits for helpers, and a moment for the handlers of connections that were cut: their contexts are done.
func (l *lifetime) wait() {
	for until := time.Now().Add(time.Second); l.requests.Load()+l.streams.Load() > 0 && time.Now().Before(until); {
		time.Sleep(time.Millisecond)
	}
	l.helpers.Wait()
}

// end tells streams to end. No helper starts after it.
func (l *lifetime) end() {
	l.once.Do(func() {
		l.starting.Lock()
		defer l.starting.Unlock()
		close(l.ending)
	})
}

// help runs f beside the request that asks for it; wait waits for its end. It reports false, and does not, once the end has come.
func (l *lifetime) help(f func()) bool {
	l.starting.Lock()
	defer l.starting.Unlock()
	select {
	case <-l.ending:
		return false
	default:
	}
	l.helpers.Go(f)
	return true
}
