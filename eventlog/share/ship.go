package share

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/share/segment"
	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/events"
)

// ship runs until ctx is done. What fails is tried again. It returns ErrRenewed once the own log, which was found to be another home's
// too, has a name of its own.
func (s *Share) ship(ctx context.Context) error {
	sh := &shipper{Share: s, unread: newUnread(s.cfg.Own)}
	wait := minRetryPause
	for ctx.Err() == nil {
		err := sh.step(ctx)
		if forked, ok := errors.AsType[*ForkedError](err); ok {
			s.fork(forked)
			if err = s.branch(ctx, forked); err == nil {
				return ErrRenewed
			}
			err = fmt.Errorf("%w: %w", forked, err)
		}
		if errors.Is(err, eventlog.ErrClosed) || errors.Is(err, eventlog.ErrFailed) {
			return err
		}
		if ctx.Err() == nil {
			s.problems.set("sending", err)
		}
		if err == nil {
			wait = minRetryPause
			continue
		}
		s.cfg.Log.Warn("cannot send the log to the store", "err", err)
		sleep(ctx, wait, nil)
		wait = min(2*wait, maxRetryPause)
	}
	return nil
}

// announce wakes who waits for shipping. Its caller holds mu.
func (s *Share) announce() {
	close(s.advanced)
	s.advanced = make(chan struct{})
}

// sleep returns after d, or once ctx is done or awake has a token, which it takes.
func sleep(ctx context.Context, d time.Duration, awake <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-awake:
	case <-ctx.Done():
	}
}

// step waits for records that are not in the store, and puts them there: one segment.
func (sh *shipper) step(ctx context.Context) error {
	if err := sh.awaitFirst(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	select {
	case doubt := <-sh.doubts:
		return sh.recheckHead(doubt)
	default:
	}
	if sh.life == 0 {
		return sh.begin(ctx)
	}
	f := sh.feedOf(sh.ownLog())
	last, err := sh.cfg.Own.Last(ctx)
	if err != nil {
		return err
	}
	if f.Last < last {
		if last-f.Last < segment.MaxRecords {
			sleep(ctx, sh.cfg.Every, sh.hurry)
		}
		if err := sh.send(ctx); err != nil {
			return err
		}
		if f = sh.feedOf(sh.ownLog()); f.Last < last && sh.cfg.Now().Sub(sh.wrote) < sh.cfg.Every {
			return nil // the head may wait while more goes out
		}
	}
	if f.Head != f.Last || f.Life != sh.life || sh.cfg.Now().Sub(sh.wrote).Abs() >= heartbeat {
		return sh.renew(ctx, f)
	}
	return sh.await(ctx, f.Last)
}

// awaitFirst waits for the own log's first record, which names it.
func (sh *shipper) awaitFirst(ctx context.Context) error {
	if !sh.ownLog().IsZero() {
		return nil
	}
	for _, err := range sh.cfg.Own.Follow(ctx, 1) {
		if err == nil {
			err = sh.identify(ctx)
		}
		return err
	}
	return nil
}

// await returns once there is a record behind last, the head is to be renewed, or the own log is in doubt.
func (sh *shipper) await(ctx context.Context, last events.Position) (err error) {
	ctx, cancel := context.WithTimeout(ctx, heartbeat)
	var doubt *ForkedError
	var doubted bool
	var wg sync.WaitGroup
	wg.Go(func() {
		select {
		case doubt = <-sh.doubts:
			doubted = true
			cancel()
		case <-ctx.Done():
		}
	})
	for _, err = range sh.cfg.Own.Follow(ctx, last+1) {
		break
	}
	cancel()
	if wg.Wait(); doubted {
		return sh.recheckHead(doubt)
	}
	return err
}

// recheckHead ends the life where somebody else wrote the head, so that the next one looks at it.
func (sh *shipper) recheckHead(doubt *ForkedError) error {
	if doubt != nil {
		return doubt
	}
	sh.life = 0
	return nil
}

// begin begins a life. Where a head says that more is in the store than this home has, or other records, or that another machine wrote it,
// the log is forked; else what it says is shipped, and nothing where there is none.
func (sh *shipper) begin(ctx context.Context) error {
	h, rev, err := sh.storedHead(ctx)
	if err != nil {
		return err
	}
	sh.checkRollback(h)
	f, err := sh.shipped(ctx, h)
	if err != nil {
		return err
	}
	if err := sh.setFeed(sh.ownLog(), f); err != nil {
		return err
	}
	sh.rev, sh.life = rev, h.Life+1
	sh.mu.Lock()
	sh.Share.life, sh.began = sh.life, f
	sh.mu.Unlock()
	return sh.renew(ctx, f)
}

// checkRollback says so where the store has an older head than this home wrote, or none any more.
func (sh *shipper) checkRollback(h head) {
	if wrote := sh.feedOf(sh.ownLog()); h.Life < wrote.Life || h.Life == wrote.Life && h.Last < wrote.Head {
		sh.reportRollback()
	}
}

// storedHead is the own log's head as it is in the store, and what to replace it at; none where there is none. One that is no head
// is as none.
func (sh *shipper) storedHead(ctx context.Context) (h head, rev store.Rev, err error) {
	body, rev, err := sh.store.Get(ctx, sh.keys.head(sh.ownLog()))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return head{}, "", nil
	case err != nil:
		return head{}, "", err
	}
	if h, err = verify[head](sh.space, body); err != nil || h.Log != sh.ownLog() {
		return head{}, rev, nil
	}
	return h, rev, nil
}

// shipped is how far the own log is in the store, by its head and by what this home knows.
func (sh *shipper) shipped(ctx context.Context, h head) (feed, error) {
	last, err := sh.cfg.Own.Last(ctx)
	if err != nil {
		return feed{}, err
	}
	known, err := sh.checkpoint(ctx)
	switch {
	case err != nil:
		return feed{}, err
	case h.Life == 0: // there is none: nothing is known to be there, and what is there is found as it is sent
		return feed{Machine: sh.space.Self()}, nil
	case h.Machine != sh.space.Self():
		return feed{}, &ForkedError{Log: sh.ownLog(), At: known.Last + 1}
	case h.Last > last:
		return feed{}, &ForkedError{Log: sh.ownLog(), At: last + 1, copied: true}
	}
	link, err := linkAt(ctx, sh.cfg.Own, known, h.Last)
	if err != nil {
		return feed{}, err
	}
	if link != h.Link {
		at := events.Position(1)
		if known.Last < h.Last {
			at = known.Last + 1
		}
		return feed{}, &ForkedError{Log: sh.ownLog(), At: at, copied: true}
	}
	if known.Last >= h.Last {
		return known, nil
	}
	return sh.feedAt(ctx, h.Last, link)
}

// checkpoint is how far this home knows that it shipped its log. Where the log has another record there, or none, or was salvaged since and
// has another one before, it was exchanged: by an older one from a backup, or by what a salvage could read. Then it is another log by the same
// name.
func (sh *shipper) checkpoint(ctx context.Context) (feed, error) {
	f, none := sh.feedOf(sh.ownLog()), feed{Machine: sh.space.Self()}
	if f.Last == 0 {
		return none, nil
	}
	r, err := sh.cfg.Own.Get(ctx, f.Last)
	exchanged := errors.Is(err, eventlog.ErrNotFound) || err == nil && r.Chain != f.Chain
	if err == nil && !exchanged {
		exchanged, err = isRelaid(ctx, sh.cfg.Own, f)
	}
	if exchanged {
		return none, &ForkedError{Log: sh.ownLog(), At: 1, exchanged: true}
	}
	return f, err
}

// isRelaid reports whether a salvage laid records of the own log anew that were shipped. It signs behind them. Where they cannot be read
// nobody can say so, and they count as they were. The error is ctx's.
func isRelaid(ctx context.Context, log eventlog.Reader, f feed) (bool, error) {
	for r, err := range eventlog.ReadableFrom(log).All(ctx, f.Last+1) {
		if err != nil {
			return false, ctx.Err()
		}
		if r.Kind == events.KindLogSalvaged {
			link, err := linkAt(ctx, log, feed{}, f.Last)
			return err == nil && link != f.Link, ctx.Err()
		}
	}
	return false, ctx.Err()
}

// renew writes the head. Where somebody else wrote it since, or it is gone, the life ends, and the next one looks at what is there.
func (sh *shipper) renew(ctx context.Context, f feed) error {
	now := sh.cfg.Now()
	body, err := sign(sh.space, head{
		Machine: sh.space.Self(), Log: sh.ownLog(), Life: sh.life, Last: f.Last, Link: f.Link, At: now.UTC(),
	})
	if err != nil {
		return err
	}
	key := sh.keys.head(sh.ownLog())
	if sh.rev, err = store.Put(ctx, sh.store, key, sh.rev, body); err != nil {
		sh.life = 0
	}
	if errors.Is(err, store.ErrExists) || errors.Is(err, store.ErrMoved) || errors.Is(err, store.ErrNotFound) {
		sh.setHeadAt(0)
		return nil
	}
	if err != nil {
		return err
	}
	sh.wrote = now
	f.Life, f.Head = sh.life, f.Last
	err = sh.setFeed(sh.ownLog(), f) // after it is in the store, which has at least what is on disk here
	sh.setHeadAt(f.Last)
	return err
}

// setHeadAt keeps how far others find the own log in the store.
func (sh *shipper) setHeadAt(at events.Position) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.headAt = at
	sh.announce()
}

// send puts the records that follow what is shipped into the store, as one segment.
func (sh *shipper) send(ctx context.Context) error {
	if err := sh.shipping.Acquire(ctx, 1); err != nil {
		return err
	}
	defer sh.shipping.Release(1)
	f := sh.feedOf(sh.ownLog())
	b, withheld, err := sh.gather(ctx, f, 0)
	if err != nil || b.Len() == 0 {
		return err
	}
	body, err := sh.sealed(b, sh.life, 0)
	if err != nil {
		return err
	}
	_, err = sh.store.Create(ctx, sh.keys.segment(sh.ownLog(), f.Last+1, 0), body)
	if errors.Is(err, store.ErrExists) {
		return sh.adopt(ctx, f)
	}
	if err != nil {
		return err
	}
	return sh.advance(ctx, b.Last(), b.Link(), withheld)
}
