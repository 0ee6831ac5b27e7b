package eventlog

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/cmemd/cmemd/events"
)

// Memory is a log that forgets everything when the program ends: for tests and trials. It implements Restorer.
type Memory struct {
	*feed
	cfg Config

	mu      sync.RWMutex // guards the fields below
	batch   *batch
	records []events.Record // by position less one
	streams map[events.StreamID][]events.Position
}

// NewMemory returns an empty log. Of cfg it uses Codec and Now.
func NewMemory(cfg Config) *Memory {
	cfg = cfg.withDefaults()
	m := &Memory{feed: newFeed(0), cfg: cfg, streams: map[events.StreamID][]events.Position{}}
	m.batch = &batch{table: (*memoryTable)(m), codec: cfg.Codec, heads: map[events.StreamID]head{}}
	return m
}

// Append implements Log.
func (m *Memory) Append(ctx context.Context, stream events.StreamID, expected events.Version, drafts ...events.Draft) ([]events.Record, error) {
	sealed, _, err := seal(ctx, m.cfg.Codec, stream, drafts)
	if err != nil {
		return nil, err
	}
	var records []events.Record
	err = m.change(func(b *batch) error {
		if len(sealed) == 0 {
			return nil
		}
		records, err = b.append(stream, expected, sealed, m.cfg.Now())
		return err
	})
	return records, err
}

// Restore implements Restorer.
func (m *Memory) Restore(ctx context.Context, records ...events.Record) error {
	if err := checkPayloads(ctx, records); err != nil {
		return err
	}
	return m.change(func(b *batch) error { return b.restore(records) })
}

// Erase implements Log.
func (m *Memory) Erase(ctx context.Context, at ...events.Position) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return m.change(func(b *batch) error { return b.erase(at) })
}

// Compact does nothing: what was erased is in no file.
func (m *Memory) Compact(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return m.ended()
}

func (m *Memory) change(f func(*batch) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.ended(); err != nil {
		return err
	}
	if err := f(m.batch); err != nil {
		return err
	}
	m.advance(m.batch.last)
	return nil
}

// Get implements Log.
func (m *Memory) Get(ctx context.Context, at events.Position) (events.Record, error) {
	if err := ctx.Err(); err != nil {
		return events.Record{}, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if err := m.ended(); err != nil {
		return events.Record{}, err
	}
	return (*memoryTable)(m).record(at)
}

// Head implements Log.
func (m *Memory) Head(ctx context.Context, stream events.StreamID) (events.Version, events.Position, error) {
	if err := ctx.Err(); err != nil {
		return 0, 0, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	h := m.batch.heads[stream]
	return h.Version, h.Last, m.ended()
}

// Last implements Log.
func (m *Memory) Last(ctx context.Context) (events.Position, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	last, _, err := m.state()
	return last, err
}

// Stream implements Log.
func (m *Memory) Stream(ctx context.Context, id events.StreamID, from events.Version) iter.Seq2[events.Record, error] {
	return stream(ctx, m, id, from)
}

// All implements Log.
func (m *Memory) All(ctx context.Context, from events.Position) iter.Seq2[events.Record, error] {
	return all(ctx, m, from)
}

// Follow implements Log.
func (m *Memory) Follow(ctx context.Context, from events.Position) iter.Seq2[events.Record, error] {
	return follow(ctx, m, from)
}

// Close implements Log.
func (m *Memory) Close() error {
	m.mu.Lock() // an append under way ends first
	defer m.mu.Unlock()
	m.end(ErrClosed)
	return nil
}

func (m *Memory) read(from, to events.Position) (slice, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	n := min(to-from+1, maxSliceRecords)
	return m.taken(slices.Clone(m.records[from-1 : from-1+n]))
}

func (m *Memory) trail(_ context.Context, id events.StreamID, from events.Version) ([]events.Position, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	at := m.streams[id]
	return slices.Clone(at[min(uint64(len(at)), uint64(from-1)):]), m.ended()
}

func (m *Memory) pick(at []events.Position) (slice, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	records := make([]events.Record, min(len(at), maxSliceRecords))
	for i := range records {
		records[i] = m.records[at[i]-1]
	}
	return m.taken(records)
}

func (m *Memory) taken(records []events.Record) (slice, error) {
	return slice{n: len(records), at: func(i int) (events.Record, error) { return records[i], nil }}, m.ended()
}

// memoryTable is Memory's table; whoever calls it holds mu.
type memoryTable Memory

func (t *memoryTable) record(at events.Position) (events.Record, error) {
	if at == 0 || at > events.Position(len(t.records)) {
		return events.Record{}, fmt.Errorf("%w: %d", ErrNotFound, at)
	}
	return t.records[at-1], nil
}

func (t *memoryTable) put(r events.Record) {
	if r.Position <= events.Position(len(t.records)) {
		t.records[r.Position-1] = r
		return
	}
	t.records = append(t.records, r)
	t.streams[r.Stream] = append(t.streams[r.Stream], r.Position)
}

// head knows only unknown streams: the batch, which lives as long as the log, has all others.
func (t *memoryTable) head(events.StreamID) (head, error) { return head{}, nil }
