package engine

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// Pace says in what portions Follow hands records out. The zero value is good for most.
type Pace struct {
	Records int // at most in a slice; 0 means 1,000
	Bytes   int // of payloads, about, at most in a slice; 0 means 4 MiB

	// Rest is how long, at most, Follow waits after a slice for the next one to fill; 0 means 20 ms, less than 0 none.
	// It waits four times as long as the slice took to apply, so that under load the reader takes a fifth of one core,
	// and a record that comes after a quiet time is handed out at once.
	Rest time.Duration

	// Hurry ends a rest. With it each rest takes Rest: who cannot wait for the next slice says so. nil: nobody does. A rest
	// ends as well when the next slice has no more room.
	Hurry <-chan struct{}
}

func (p Pace) withDefaults() Pace {
	if p.Records <= 0 {
		p.Records = 1000
	}
	if p.Bytes <= 0 {
		p.Bytes = 4 << 20
	}
	p.Rest = cmp.Or(p.Rest, 20*time.Millisecond)
	return p
}

// Follow hands the records of log from position from on to slice, in order and in portions of what is there, first
// those that exist and then those that are appended, until ctx is done; then it returns nil. An error of the log or of
// slice ends it and is returned. slice is called by one goroutine at a time, and may keep the records but not the list.
func Follow(ctx context.Context, log eventlog.Reader, from events.Position, pace Pace, slice func([]events.Record) error) error {
	pace = pace.withDefaults()
	inner, cancel := context.WithCancel(ctx)
	feed := &feed{pace: pace, full: make(chan struct{}, 1), free: make(chan struct{}, 1), packed: make(chan struct{}, 1)}
	var reader sync.WaitGroup
	reader.Go(func() { feed.fill(inner, log, from) })
	defer reader.Wait()
	defer cancel()

	var spare []events.Record
	for {
		records, err := feed.take(inner, spare)
		if len(records) > 0 {
			began := time.Now()
			if err := slice(records); err != nil {
				return err
			}
			pace.rest(inner, time.Since(began), feed.packed)
			clear(records)
			spare = records[:0]
			continue
		}
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
}

// rest waits for the next slice to fill, after one that took so long to apply, but no longer than until packed.
func (p Pace) rest(ctx context.Context, took time.Duration, packed <-chan struct{}) {
	d := p.Rest
	if p.Hurry == nil {
		d = min(4*took, d)
	}
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.Hurry:
	case <-packed:
	case <-ctx.Done():
	}
}

// feed is the portion that is being filled by one goroutine while another works on the one before.
type feed struct {
	pace Pace
	full chan struct{} // there is something to take, or the reader has ended
	free chan struct{} // there is room again

	packed chan struct{} // there is no more room

	mu      sync.Mutex // guards the fields below
	records []events.Record
	bytes   int
	ended   bool
	err     error
}

// fill reads the log until ctx is done or the log ends.
func (f *feed) fill(ctx context.Context, log eventlog.Reader, from events.Position) {
	var failed error
	for r, err := range log.Follow(ctx, from) {
		if err != nil {
			failed = err
			break
		}
		if !f.add(ctx, r) {
			break
		}
	}
	f.mu.Lock()
	f.ended, f.err = true, failed
	f.mu.Unlock()
	signal(f.full)
}

// add waits for room, and reports false when ctx is done.
func (f *feed) add(ctx context.Context, r events.Record) bool {
	for {
		f.mu.Lock()
		room := len(f.records) < f.pace.Records && f.bytes < f.pace.Bytes
		if room {
			f.records = append(f.records, r)
			f.bytes += int(r.Size)
		}
		f.mu.Unlock()
		if room {
			signal(f.full)
			return true
		}
		signal(f.packed)
		select {
		case <-f.free:
		case <-ctx.Done():
			return false
		}
	}
}

// take waits for records and returns all there are, giving spare to be filled next. Without records the reader has
// ended, for the error.
func (f *feed) take(ctx context.Context, spare []events.Record) ([]events.Record, error) {
	for {
		f.mu.Lock()
		records, ended, err := f.records, f.ended, f.err
		if len(records) > 0 {
			f.records, f.bytes = spare, 0
		}
		f.mu.Unlock()
		if len(records) > 0 || ended {
			signal(f.free)
			return records, err
		}
		select {
		case <-f.full:
		case <-ctx.Done():
			return nil, nil
		}
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
