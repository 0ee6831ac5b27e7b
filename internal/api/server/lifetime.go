package server

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cmemd/cmemd/internal/api"
)

// Bounds are how long things may take, and how many there may be at once.
type Bounds struct {
	ContextTimeout time.Duration // in which a starting session gets its memory, or none. 0 means 1.2 s
	HookTimeout    time.Duration // in which a hook's event is on disk, or 503. 0 means capture.AppendTimeout
	WaitTimeout    time.Duration // for the views to reach ?after=. 0 means 5 s
	MaxRequests    int           // at once, without streams. 0 means 512
	MaxStreams     int           // at once. 0 means 64
	MaxBodies      int64         // bytes of hook payloads in memory at once. 0 means 128 MiB
}

// lifetime counts what is under way, and ends it.
type lifetime struct {
	requests, streams atomic.Int64
	bounds            Bounds
	helpers           sync.WaitGroup // goroutines that a request left behind
	starting          sync.Mutex     // orders the start of helpers and the end
	ending            chan struct{}  // closed at the end: streams end then
	once              sync.Once
}

func newLifetime(b Bounds) lifetime { return lifetime{bounds: b, ending: make(chan struct{})} }

// enter counts one more request, or stream, that is under way, or says that too many are. It ends when leave is called.
func (l *lifetime) enter(stream bool) (leave func(), busy *api.Problem) {
	count, most, what, after := &l.requests, l.bounds.MaxRequests, "requests", time.Second
	if stream {
		count, most, what, after = &l.streams, l.bounds.MaxStreams, "streams", 5*time.Second
	}
	leave = func() { count.Add(-1) }
	if count.Add(1) > int64(most) {
		leave()
		return nil, unavailable(api.ProblemBusy, "Too many "+what+" at once", after, "")
	}
	return leave, nil
}

// within is ctx with the end of a request, which has a time limit, or of a stream, which ends with the server.
func (l *lifetime) within(ctx context.Context, stream bool) (context.Context, context.CancelFunc) {
	if !stream {
		return context.WithTimeout(ctx, plainTimeout)
	}
	ctx, cancel := context.WithCancel(ctx)
	leave := cancelWhen(l.ending, cancel)
	return ctx, func() {
		leave()
		cancel()
	}
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
