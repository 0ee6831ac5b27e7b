package eventlog

import (
	"context"
	"sync"
	"time"
)

const (
	// maxQueued bounds the appends that wait for the writer; more callers wait for a place, each with its context.
	maxQueued = 4096

	// maxGroupBytes bounds a commit: its pages are in memory until they are written. A larger append goes alone.
	maxGroupBytes = 16 << 20
)

// request is one change that waits for the writer.
type request struct {
	change func(*batch) error // all or nothing; nil: alone
	alone  func() error       // what must run between two commits; ErrFailed ends the log
	grows  int64              // about how many bytes it adds to the file; 0 is never refused for lack of room
	err    error
	done   chan error // has room for the one answer
}

// queue holds what is to be committed next. When it is full, push waits.
type queue struct {
	places chan struct{} // one is taken as long as a request is unanswered

	mu      sync.Mutex // guards the fields below
	waiting []*request
	wanted  int   // how many have to wait before the writer is woken
	closed  error // what push returns from now on
	shut    chan struct{}
	work    sync.Cond // as many wait as are wanted, or that changed, or closed
}

func newQueue() *queue {
	q := &queue{places: make(chan struct{}, maxQueued), shut: make(chan struct{})}
	q.work.L = &q.mu
	return q
}

// push hands r to the writer, who will answer it. An error means that it was not handed over.
func (q *queue) push(ctx context.Context, r *request) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case q.places <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-q.shut:
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed != nil {
		return q.closed // places count no more
	}
	if q.waiting = append(q.waiting, r); len(q.waiting) >= q.wanted {
		q.work.Signal()
	}
	return nil
}

// maxGather is the longest that a commit is put off for those who were just answered: as long as an answer and the next event take
// over a socket.
const maxGather = 2 * time.Millisecond

// take waits for work and returns as much of it as one commit may hold; nothing when the queue is closed and empty. Where several were
// answered since the last time it waits for as many more, who often come back at once, but not longer than half of what that commit took:
// else two crowds of writers would wait for each other's commits by turns.
func (q *queue) take(answered int, took time.Duration) []*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	if answered > 1 {
		q.gather(len(q.waiting)+answered, min(took/2, maxGather))
	}
	for len(q.waiting) == 0 && q.closed == nil {
		q.work.Wait()
	}
	var n int
	var size int64
	for n < len(q.waiting) && (n == 0 || size+q.waiting[n].grows <= maxGroupBytes) {
		size += q.waiting[n].grows
		n++
	}
	group := q.waiting[:n:n]
	q.waiting = q.waiting[n:]
	if len(q.waiting) == 0 {
		q.waiting = nil
	}
	return group
}

// gather waits, mu being held, until n requests wait, or d has passed, or the queue is closed.
func (q *queue) gather(n int, d time.Duration) {
	q.wanted = n
	timer := time.AfterFunc(d, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.wanted = 0
		q.work.Signal()
	})
	for len(q.waiting) < q.wanted && q.closed == nil {
		q.work.Wait()
	}
	timer.Stop()
	q.wanted = 0
}

// close makes push return err. What is queued stays queued. Only the first call counts.
func (q *queue) close(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed != nil {
		return
	}
	q.closed = err
	close(q.shut)
	q.work.Signal()
}

// answer gives r its outcome and its place to the next.
func (q *queue) answer(r *request, err error) {
	<-q.places
	r.done <- err
}
