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
	change  func(*batch) error // all or nothing; nil: alone
	alone   func() error       // what must run between two commits; ErrFailed ends the log
	grows   int64              // about how many bytes it adds to the file; 0 is never refused for lack of room
	records int
	err     error
	done    chan error // has room for the one answer
}

// queue holds what is to be committed next. When it is full, push waits.
type queue struct {
	places chan struct{} // one is taken as long as a request is unanswered

	mu      sync.Mutex // guards the fields below
	waiting []*request
	wanted  int   // how many have to wait before the writer is woken
	closed  error // what push returns from now on
	shut    chan struct{}
	work    sync.Cond // waiting or closed changed
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

// take waits for work and returns as much of it as one commit may hold; nothing when the queue is closed and empty.
func (q *queue) take() []*request {
	q.mu.Lock()
	defer q.mu.Unlock()
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

// gather waits until so many more requests wait than do now, or until d has passed, or the queue is closed.
func (q *queue) gather(more int, d time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.wanted = len(q.waiting) + more
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
