package fleet

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/events"
)

// memoryLog is a log in memory. It outlives the crashes of its machine.
type memoryLog struct {
	codec *events.Codec

	mu      sync.Mutex // guards the fields below
	records []events.Record
	changed chan struct{} // closed, and made anew, at each append
}

func newLog(codec *events.Codec) *memoryLog {
	return &memoryLog{codec: codec, changed: make(chan struct{})}
}

// copied is the log as a copy of the home has it.
func (l *memoryLog) copied() *memoryLog {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &memoryLog{codec: l.codec, records: slices.Clone(l.records), changed: make(chan struct{})}
}

// append adds an event to one of a few streams.
func (l *memoryLog) append(stream events.StreamID, e events.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := uuid.Must(uuid.NewV7())
	sealed, err := l.codec.Seal(events.Draft{ID: id, OccurredAt: time.Now(), Event: e}, events.Salt(id))
	if err != nil {
		panic(err)
	}
	var previous events.Record
	for _, r := range slices.Backward(l.records) {
		if r.Stream == stream {
			previous = r
			break
		}
	}
	l.records = append(l.records, l.codec.Place(sealed, events.Position(len(l.records)+1), stream,
		previous.Version+1, previous.Position, previous.Chain, time.Now()))
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *memoryLog) erase(at ...events.Position) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range at {
		if p == 0 || int(p) > len(l.records) {
			return eventlog.ErrNotFound
		}
		l.records[p-1] = l.records[p-1].Erase()
	}
	return nil
}

func (l *memoryLog) state() ([]events.Record, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.records), l.changed
}

func (l *memoryLog) Get(_ context.Context, at events.Position) (events.Record, error) {
	records, _ := l.state()
	if at == 0 || int(at) > len(records) {
		return events.Record{}, eventlog.ErrNotFound
	}
	return records[at-1], nil
}

func (l *memoryLog) All(_ context.Context, from events.Position) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		records, _ := l.state()
		for _, r := range records[min(int(max(from, 1))-1, len(records)):] {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (l *memoryLog) Follow(ctx context.Context, from events.Position) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for next := int(max(from, 1)); ctx.Err() == nil; {
			records, changed := l.state()
			for ; next <= len(records); next++ {
				if !yield(records[next-1], nil) {
					return
				}
			}
			select {
			case <-changed:
			case <-ctx.Done():
			}
		}
	}
}

func (l *memoryLog) Stream(ctx context.Context, stream events.StreamID, from events.Version) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range l.All(ctx, 1) {
			if r.Stream == stream && r.Version >= from && !yield(r, err) {
				return
			}
		}
	}
}

func (l *memoryLog) Head(ctx context.Context, stream events.StreamID) (v events.Version, at events.Position, _ error) {
	for r := range l.Stream(ctx, stream, 1) {
		v, at = r.Version, r.Position
	}
	return v, at, nil
}

func (l *memoryLog) Last(context.Context) (events.Position, error) {
	records, _ := l.state()
	return events.Position(len(records)), nil
}

// ledger has every record that any machine took for that of a place.
type ledger struct {
	mu     sync.Mutex // guards taken
	taken  map[events.Place]events.Hash
	broken []string
}

// admit notes that a record was taken (F1).
func (l *ledger) admit(log events.LogID, r events.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := events.Place{Log: log, Position: r.Position}
	if chain, ok := l.taken[at]; ok && chain != r.Chain {
		l.broken = append(l.broken, fmt.Sprintf("two records were taken for %s %d", log, r.Position))
	}
	l.taken[at] = r.Chain
}

// memoryCopies are copies in memory. They outlive the crashes of their machine.
type memoryCopies struct {
	ledger *ledger
	own    *memoryLog

	mu     sync.Mutex // guards the fields below
	full   bool       // there is no room for more
	logs   map[events.LogID][]events.Record
	erased map[events.Place]bool
}

func newCopies(l *ledger, own *memoryLog) *memoryCopies {
	return &memoryCopies{ledger: l, own: own, logs: map[events.LogID][]events.Record{}, erased: map[events.Place]bool{}}
}

func (c *memoryCopies) copied(own *memoryLog) *memoryCopies {
	c.mu.Lock()
	defer c.mu.Unlock()
	logs := map[events.LogID][]events.Record{}
	for id, records := range c.logs {
		logs[id] = slices.Clone(records)
	}
	return &memoryCopies{ledger: c.ledger, own: own, logs: logs, erased: maps.Clone(c.erased)}
}

func (c *memoryCopies) Add(_ context.Context, runs ...union.Run) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, run := range runs {
		if c.full {
			return eventlog.ErrDiskFull
		}
		if err := c.add(run); err != nil {
			return err
		}
	}
	return nil
}

func (c *memoryCopies) Settle(context.Context) (next time.Time, err error) { return next, nil }

// add needs mu.
func (c *memoryCopies) add(run union.Run) error {
	have := c.logs[run.Log]
	for _, r := range run.Records {
		switch n := events.Position(len(have)); {
		case r.Position <= n:
			if have[r.Position-1].Chain != r.Chain {
				return union.ErrForked
			}
			continue
		case r.Position > n+1:
			return &union.GapError{Log: run.Log, Want: n + 1, Given: r.Position}
		}
		if err := r.Check(); err != nil {
			return err
		}
		for _, p := range c.same(run.Log, r) {
			if c.erased[p] {
				r = r.Erase()
				c.erase(c.same(run.Log, r)...)
				break
			}
		}
		c.ledger.admit(run.Log, r)
		have = append(have, r)
	}
	c.logs[run.Log] = have
	return nil
}

func (c *memoryCopies) Erase(_ context.Context, at ...events.Place) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range at {
		c.erase(p)
		if records := c.logs[p.Log]; p.Position > 0 && int(p.Position) <= len(records) {
			c.erase(c.same(p.Log, records[p.Position-1])...)
		}
	}
	return nil
}

// erase needs mu.
func (c *memoryCopies) erase(at ...events.Place) {
	for _, p := range at {
		c.erased[p] = true
		if records := c.logs[p.Log]; p.Position > 0 && int(p.Position) <= len(records) {
			records[p.Position-1] = records[p.Position-1].Erase()
		}
	}
}

// same is where the copies have a record of a log. It needs mu.
func (c *memoryCopies) same(log events.LogID, r events.Record) []events.Place {
	all := []events.Place{{Log: log, Position: r.Position}}
	for id, records := range c.logs {
		if id != log && int(r.Position) <= len(records) && records[r.Position-1].ID == r.ID {
			all = append(all, events.Place{Log: id, Position: r.Position})
		}
	}
	return all
}

// Same implements share.Copies.
func (c *memoryCopies) Same(at events.Place) []events.Place {
	own, _ := c.own.state()
	c.mu.Lock()
	defer c.mu.Unlock()
	isOwn := at.Log.IsZero() || len(own) > 0 && at.Log == events.LogIDOf(own[0])
	records := c.logs[at.Log]
	if isOwn {
		records = own
	}
	if at.Position == 0 || int(at.Position) > len(records) {
		return []events.Place{at}
	}
	all := c.same(at.Log, records[at.Position-1])
	if !isOwn && int(at.Position) <= len(own) && own[at.Position-1].ID == records[at.Position-1].ID {
		all = append(all, events.Place{Position: at.Position})
	}
	return all
}

func (c *memoryCopies) Compact(context.Context) error { return nil }

func (c *memoryCopies) Copies() (all []union.Copy) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, records := range c.logs {
		n := events.Position(len(records))
		all = append(all, union.Copy{Log: id, Last: n, Shown: n})
	}
	slices.SortFunc(all, func(a, b union.Copy) int { return slices.Compare(a.Log[:], b.Log[:]) })
	return all
}

// Reads says that nothing was known of others: these copies have no order.
func (c *memoryCopies) Reads(events.Position) []events.Place { return nil }

func (c *memoryCopies) of(id events.LogID) []events.Record {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.logs[id])
}

// all are the copies by what their logs are called here.
func (c *memoryCopies) all() map[events.LogID][]events.Record {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[events.LogID][]events.Record{}
	for id, records := range c.logs {
		all[id] = slices.Clone(records)
	}
	return all
}

// fill takes the room for more away, or gives it back.
func (c *memoryCopies) fill(full bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.full = full
}
