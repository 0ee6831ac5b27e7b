package share

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cmemd/cmemd/eventlog/share/store"
)

// reportEvery is how often it is reported at most how far logs were read.
const reportEvery = 10 * time.Second

// reporter remembers what one Run reported last.
type reporter struct {
	*Share
	reported  []byte // but for the time
	rev       store.Rev
	at        time.Time
	confirmed int // how many forgets were confirmed then
}

// readReport takes what another machine says of itself, and puts into the store again what it misses of the own log.
func (s *Share) readReport(ctx context.Context, name string, body []byte) error {
	r, err := verify[report](s.space, body)
	if err != nil {
		return err
	}
	if r.Machine.String() != name {
		return fmt.Errorf("%w: it is another machine's", ErrStatement)
	}
	s.mu.Lock()
	if old, ok := s.reports[r.Machine]; !ok || !r.At.Before(old.At) {
		s.reports[r.Machine] = r
	}
	own := s.own
	s.mu.Unlock()
	if r.Machine == s.space.Self() {
		return nil
	}
	for _, c := range r.Copies {
		if c.Log != own {
			continue
		}
		if err := s.compare(ctx, r.Machine, c); err != nil {
			return err
		}
		if c.Want > 0 {
			return s.heal(ctx, c.Want)
		}
	}
	return nil
}

// present is what is to be reported now.
func (s *Share) present() report {
	m := s.space.Manifest()
	r := report{Machine: s.space.Self(), Manifest: m.Number, Hash: m.Hash}
	s.mu.Lock()
	defer s.mu.Unlock()
	for log := range s.heads {
		r.Copies = append(r.Copies, feedReport{
			Log: log, Last: s.feeds[log].Last, Want: cmp.Or(s.wants[log], s.unclean[log]), Link: s.feeds[log].Link,
		})
	}
	for id, n := range s.notes {
		if n.Done {
			r.Done = append(r.Done, id)
		}
	}
	slices.SortFunc(r.Copies, func(a, b feedReport) int { return bytes.Compare(a.Log[:], b.Log[:]) })
	slices.SortFunc(r.Done, func(a, b noteID) int { return bytes.Compare(a[:], b[:]) })
	r.Done = r.Done[max(0, len(r.Done)-reportedNotes):]
	return r
}

// due is when the next report is.
func (r *reporter) due() time.Time {
	if r.reported == nil {
		return time.Time{}
	}
	now, err := json.Marshal(r.present())
	if err == nil && bytes.Equal(now, r.reported) {
		return r.at.Add(heartbeat)
	}
	return r.at.Add(reportEvery)
}

// report puts a report into the store where one is due, and at once where more is forgotten or something is missing.
func (r *reporter) report(ctx context.Context) error {
	now := r.present()
	text, err := json.Marshal(now)
	if err != nil {
		return fmt.Errorf("share: %w", err)
	}
	urgent := len(now.Done) != r.confirmed || slices.ContainsFunc(now.Copies, func(c feedReport) bool { return c.Want > 0 })
	if at := r.cfg.Now(); at.Before(r.due()) && (!urgent || bytes.Equal(text, r.reported)) {
		return nil
	}
	now.At = r.cfg.Now().UTC()
	body, err := sign(r.space, now)
	if err != nil {
		return err
	}
	if err := r.put(ctx, r.keys.report(now.Machine), body); err != nil {
		return err
	}
	r.reported, r.at, r.confirmed = text, now.At, len(now.Done)
	return nil
}

// put creates or replaces an object that this machine alone writes.
func (r *reporter) put(ctx context.Context, key store.Key, body []byte) (err error) {
	var rev store.Rev
	for range 2 {
		rev, err = store.Put(ctx, r.store, key, r.rev, body)
		if !errors.Is(err, store.ErrExists) && !errors.Is(err, store.ErrMoved) && !errors.Is(err, store.ErrNotFound) {
			break
		}
		var got error
		if _, r.rev, got = r.store.Get(ctx, key); got != nil && !errors.Is(got, store.ErrNotFound) {
			return cmp.Or(got, err)
		}
	}
	if err == nil {
		r.rev = rev
	}
	return err
}
