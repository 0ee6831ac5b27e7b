package share

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cmemd/cmemd/eventlog/share/segment"
	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/events"
)

// errForeign is returned for a log that another machine began to sign.
var errForeign = errors.New("share: the log is another machine's")

// readHead takes a log's head, and what is new of the log.
func (s *Share) readHead(ctx context.Context, name string, body []byte) error {
	log, ok := parseLog(name)
	if !ok {
		return nil
	}
	h, err := verify[head](s.space, body)
	if err != nil {
		return err
	}
	if h.Log != log {
		return fmt.Errorf("%w: it is another log's", ErrStatement)
	}
	if log == s.ownLog() {
		s.compareHead(h)
		return nil
	}
	f := s.feedOf(log)
	if f.Last > 0 && f.Machine != h.Machine {
		return errForeign
	}
	s.setHead(h, f)
	if h.Last <= f.Last {
		return nil
	}
	return s.fetch(ctx, h)
}

// setHead keeps the newest head, and since when the copy is behind it.
func (s *Share) setHead(h head, f feed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.heads[h.Log]; ok && old.At.After(h.At) && old.Last >= h.Last {
		return
	}
	s.heads[h.Log] = h
	if _, ok := s.behind[h.Log]; !ok && h.Last > f.Last {
		s.behind[h.Log] = s.cfg.Now()
	}
}

// fetch takes segments into a log's copy, as far as its head says. What is missing or bad stops it, and the owner is asked for it.
func (s *Share) fetch(ctx context.Context, h head) error {
	err := s.fetchTo(ctx, h)
	s.mu.Lock()
	if isBad(err) {
		s.wants[h.Log] = s.feeds[h.Log].Last + 1
	} else if err == nil {
		delete(s.wants, h.Log)
		if s.feeds[h.Log].Last >= h.Last {
			delete(s.behind, h.Log)
		}
	}
	s.mu.Unlock()
	return err
}

// fetchBatchSegments is how many segments are taken before they are added to the copy and something else may have its turn. They are 8 MiB at
// most, and 16 of 512 records are taken in half a second; what takes longer has its turn after fetchBatchTime.
const (
	fetchBatchSegments = 16
	fetchBatchTime     = 2 * time.Second
)

// fetchTo takes segments up to fetchBatchSegments, and has the log looked at again where there are more.
func (s *Share) fetchTo(ctx context.Context, h head) error {
	f := s.feedOf(h.Log)
	f.Machine = h.Machine
	runs, after, err := s.collect(ctx, h, f)
	if len(runs) > 0 { // what came before what is bad
		added := s.cfg.Copies.Add(ctx, runs...)
		if errors.Is(added, union.ErrGap) { // the copy was lost: it is read again from the beginning
			after, added = feed{Machine: h.Machine}, nil
		}
		if added == nil {
			added = s.setFeed(h.Log, after)
		}
		if added != nil {
			return added
		}
	}
	if err == nil && after.Last < h.Last && s.space.Manifest().Accepts(h.Machine, h.Log, after.Last+1) {
		s.mark(store.Entry{Key: s.keys.head(h.Log)})
	}
	return err
}

// collect reads the segments behind f, up to fetchBatchSegments of them and as far as the machine is believed. What it read is good also where
// it returns an error.
func (s *Share) collect(ctx context.Context, h head, f feed) (runs []union.Run, _ feed, err error) {
	var places []place
	began := s.cfg.Now()
	for len(runs) < fetchBatchSegments && s.cfg.Now().Sub(began).Abs() < fetchBatchTime &&
		f.Last < h.Last && s.space.Manifest().Accepts(h.Machine, h.Log, f.Last+1) {
		p, err := s.following(ctx, h.Log, f.Last+1, &places)
		if err != nil {
			return runs, f, err
		}
		sealed, records, err := s.takeSegment(ctx, h.Log, &f, p)
		if err != nil {
			return runs, f, err
		}
		run := union.Run{Log: s.LocalLog(h.Log), Records: records}
		for _, r := range sealed.Reads {
			run.Needs = append(run.Needs, events.Place{Log: s.LocalLog(r.Log), Position: r.At})
		}
		runs = append(runs, run)
	}
	return runs, f, nil
}

// takeSegment reads the segment at a place, which f's machine signed and which holds the record behind f, and moves f to its end.
func (s *Share) takeSegment(ctx context.Context, log events.LogID, f *feed, p place) (sealed segment.Sealed, records []events.Record, err error) {
	sealed, records, err = s.segmentAt(ctx, log, p)
	switch {
	case err != nil:
	case sealed.Device != f.Machine:
		err = errForeign
	case sealed.Last() <= f.Last:
		err = errMissing
	default:
		records, err = recordsBehind(sealed, records, *f)
	}
	if err != nil {
		return sealed, nil, fmt.Errorf("record %d: %w", f.Last+1, err)
	}
	f.Last, f.Link = sealed.Last(), sealed.Link
	return sealed, records, nil
}

// recordsBehind returns the records of a segment behind those that are known, if those are the same.
func recordsBehind(sealed segment.Sealed, records []events.Record, f feed) ([]events.Record, error) {
	known := int(f.Last - (sealed.First - 1))
	l := segment.Linker{Link: sealed.Previous}
	for _, r := range records[:known] {
		if err := l.Add(r); err != nil {
			return nil, err
		}
	}
	if l.Link != f.Link {
		return nil, fmt.Errorf("%w: the log's earlier records are not those that are here", union.ErrForked)
	}
	return records[known:], nil
}
