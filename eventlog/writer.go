package eventlog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/events"
)

// writer commits what is queued, one group after the other, in its one goroutine. The group is whatever has come in during the
// commit before, so that it grows with the load, and whatever comes soon behind it where several wrote at once.
type writer struct {
	log     *Bolt
	queue   *queue
	disk    disk
	arena   arena
	counts  counts
	fresh   []events.Record // room for those of a batch
	stopped chan struct{}   // closed when run has returned
	place   place

	tx       int             // the number of the transaction that was committed last; 0: none was in this file
	erased   bool            // something was, since a compaction began; only the writer's goroutine uses it
	last     events.Position // of the last committed record
	recorded time.Time
	wedged   bool // bbolt's own lock was left held by a panic; read after stopped
}

func newWriter(b *Bolt) (*writer, error) {
	w := &writer{
		log: b, queue: newQueue(), stopped: make(chan struct{}),
		disk: disk{path: b.path, keep: b.cfg.MinFree, free: b.cfg.Free},
	}
	var err error
	if w.place, err = placeOf(b.file, b.path); err != nil {
		return w, err
	}
	w.last, w.recorded, err = readEnd(b.db, b.cfg.Codec)
	return w, err
}

// do has r committed and waits for the outcome, whatever becomes of ctx once the writer has it.
func (w *writer) do(ctx context.Context, r *request) error {
	r.done = make(chan error, 1)
	if err := w.queue.push(ctx, r); err != nil {
		return err
	}
	return <-r.done
}

// run commits until the queue is closed and empty, or a commit fails.
func (w *writer) run() {
	defer close(w.stopped)
	var began time.Time
	for group := w.queue.take(0, 0); len(group) > 0; group = w.queue.take(len(group), time.Since(began)) {
		began = time.Now()
		err := w.commit(group)
		if err == nil {
			err = w.between(group)
		}
		if err != nil {
			w.fail(group, fmt.Errorf("%w: %w", ErrFailed, err))
			return
		}
		for _, r := range group {
			w.queue.answer(r, r.err)
		}
	}
}

// between runs what a group has to run between two commits. An error is one after which the log must not go on.
func (w *writer) between(group []*request) error {
	for _, r := range group {
		if r.alone == nil {
			continue
		}
		if err := w.place.check(); err != nil {
			return err
		}
		if r.err = r.alone(); errors.Is(r.err, ErrFailed) {
			return r.err
		}
	}
	return nil
}

// fail closes the log for err and tells everyone who waits.
func (w *writer) fail(group []*request, err error) {
	w.queue.close(err)
	w.log.end(err)
	for len(group) > 0 {
		for _, r := range group {
			w.queue.answer(r, err)
		}
		group = w.queue.take(0, 0)
	}
}

// commit makes the changes of a group durable. Those that are refused get their own error; an error of commit is
// one after which nobody knows what the file holds.
func (w *writer) commit(group []*request) error {
	began := time.Now()
	w.wedged = true
	b, size, err := w.write(group)
	if err != nil {
		return err
	}
	w.wedged = false
	grown := b.last - w.last
	w.last, w.recorded = b.last, b.recorded
	w.disk.wrote(size)
	w.log.heads.merge(b.heads)
	w.share(b)
	w.log.advance(b.last)
	w.counts.add(len(group), int(grown), size, time.Since(began))
	return nil
}

// maxFresh is how many records a batch may have whose room is used again.
const maxFresh = 256

// share gives what was committed to those who read what is recent, and keeps no record itself.
func (w *writer) share(b *batch) {
	w.log.recent.add(b.appended)
	w.log.recent.forget(b.stripped)
	clear(b.appended)
	if w.fresh = b.appended[:0]; cap(w.fresh) > maxFresh {
		w.fresh = nil
	}
}

func (w *writer) write(group []*request) (b *batch, size int64, err error) {
	err = withFaults(func() error {
		tx, err := w.log.db.Begin(true)
		if err != nil {
			w.wedged = false
			return err
		}
		defer func() {
			_ = tx.Rollback() // after a commit it does nothing; if it panics, the lock is still held
			w.wedged = false
		}()
		if w.tx != 0 && tx.ID() != w.tx+1 {
			return corruptf(0, "", "%s was written over while it was open", w.log.path)
		}
		b = w.batchIn(tx)
		size = w.apply(b, group)
		if !b.dirty {
			return nil
		}
		if err := w.place.check(); err != nil {
			return err
		}
		b.finish()
		id := tx.ID()
		if err = tx.Commit(); err == nil {
			w.tx = id
		}
		return err
	})
	return b, size, err
}

// batchIn begins a batch that is written in tx.
func (w *writer) batchIn(tx *bbolt.Tx) *batch {
	b := &batch{
		codec: w.log.cfg.Codec, known: &w.log.heads, records: tx.Bucket(logBucket), ends: tx.Bucket(headBucket), arena: &w.arena,
		before: func() (*bbolt.Bucket, error) { return tx.CreateBucketIfNotExists(beforeBucket) },
		last:   w.last, recorded: w.recorded, heads: map[events.StreamID]head{}, appended: w.fresh,
	}
	b.records.FillPercent = 1 // pages are filled from left to right and never split again; it is not stored
	w.arena.reset()
	return b
}

// apply makes the changes that can be made and notes the reason of each that cannot.
func (w *writer) apply(b *batch, group []*request) (size int64) {
	for _, r := range group {
		if r.change == nil {
			continue
		}
		if r.grows > 0 {
			r.err = w.disk.room(size + r.grows)
		}
		if r.err == nil {
			r.err = r.change(b)
		}
		if r.err == nil {
			size += r.grows
		}
	}
	return size
}
