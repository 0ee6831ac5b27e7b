package eventlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/cmemd/cmemd/events"
)

// A read transaction makes the writer's free list grow as long as it lives, and can block it. So it reads no more than
// this, and the records are copied out of it into one buffer.
const (
	maxSliceRecords = 1000
	maxSliceBytes   = 512 << 10
	maxSliceTime    = 50 * time.Millisecond
)

// view runs f in a read transaction. f must return soon, and must not run code of others.
func (b *Bolt) view(f func(tx *bbolt.Tx) error) error {
	return b.viewAt(new(events.Position), f)
}

// viewAt is view where f says which record it is at: damage that does not say of which record it is, is of that one.
func (b *Bolt) viewAt(at *events.Position, f func(tx *bbolt.Tx) error) error {
	b.swap.RLock()
	defer b.swap.RUnlock()
	began := false
	err := withFaults(func() error {
		tx, err := b.db.Begin(false)
		if began = true; err != nil {
			return err
		}
		defer tx.Rollback()
		return f(tx)
	})
	if !began {
		return b.failWhenDamaged(err)
	}
	if errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
		return b.endErr()
	}
	return b.noteError(positioned(err, *at))
}

// Get implements Log.
func (b *Bolt) Get(ctx context.Context, at events.Position) (r events.Record, err error) {
	if err := b.ready(ctx); err != nil {
		return r, err
	}
	if r, ok := b.recent.get(at); ok {
		return r, nil
	}
	err = b.viewAt(&at, func(tx *bbolt.Tx) error {
		r, err = recordIn(tx.Bucket(logBucket), b.cfg.Codec, at)
		return err
	})
	return r, err
}

// Getter is a Log, as far as GetAll needs one.
type Getter interface {
	Get(ctx context.Context, at events.Position) (events.Record, error)
}

// ID returns the id of the log that r reads. A reader of several logs says its id itself; else the id is in the first record. It is
// zero where that record is absent or cannot be read. Errors: those of Get.
func ID(ctx context.Context, r Getter) (events.LogID, error) {
	if named, ok := r.(interface {
		ID(ctx context.Context) (events.LogID, error)
	}); ok {
		return named.ID(ctx)
	}
	first, err := r.Get(ctx, 1)
	switch {
	case errors.Is(err, ErrNotFound), errors.Is(err, events.ErrCorrupt):
		return events.LogID{}, nil
	case err != nil:
		return events.LogID{}, err
	}
	return events.LogIDOf(first), nil
}

// GetAll yields what log.Get returns for each of some positions, in their order. It reads many at once where log has a GetMany, as a *Bolt
// has one.
func GetAll(ctx context.Context, log Getter, at ...events.Position) iter.Seq2[events.Record, error] {
	if many, ok := log.(interface {
		GetMany(ctx context.Context, at ...events.Position) iter.Seq2[events.Record, error]
	}); ok {
		return many.GetMany(ctx, at...)
	}
	return func(yield func(events.Record, error) bool) {
		for _, p := range at {
			if !yield(log.Get(ctx, p)) {
				return
			}
		}
	}
}

// GetMany is GetAll of this log.
func (b *Bolt) GetMany(ctx context.Context, at ...events.Position) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for len(at) > 0 {
			s := b.several(ctx, at)
			for i := range s.n {
				if r, err := s.at(i); !yield(r, err) {
					return
				}
			}
			if at = at[s.n:]; s.n > 0 {
				continue
			}
			if !yield(b.Get(ctx, at[0])) { // it is in memory, or one of them cannot be read: each says for itself
				return
			}
			at = at[1:]
		}
	}
}

// several reads the first of some positions from the file, up to one that is in memory. It reads none if that fails.
func (b *Bolt) several(ctx context.Context, at []events.Position) slice {
	n := 0
	for n < min(len(at), maxSliceRecords) && !b.recent.has(at[n]) {
		n++
	}
	if n == 0 || b.ready(ctx) != nil {
		return slice{}
	}
	s, err := b.pick(at[:n])
	if err != nil {
		return slice{}
	}
	return s
}

// ready is nil as long as ctx is not done and the log is open.
func (b *Bolt) ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return b.endErr()
}

// Last implements Log.
func (b *Bolt) Last(ctx context.Context) (events.Position, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	last, _, err := b.State()
	return last, err
}

// Head implements Log.
func (b *Bolt) Head(ctx context.Context, stream events.StreamID) (events.Version, events.Position, error) {
	if err := b.ready(ctx); err != nil {
		return 0, 0, err
	}
	h, ok := b.heads.get(stream)
	if ok {
		return h.Version, h.Last, nil
	}
	err := b.view(func(tx *bbolt.Tx) (err error) {
		h, err = headIn(tx.Bucket(logBucket), tx.Bucket(headBucket), b.cfg.Codec, stream)
		return err
	})
	return h.Version, h.Last, err
}

// recordIn reads one record, into memory of its own.
func recordIn(records *bbolt.Bucket, codec *events.Codec, at events.Position) (events.Record, error) {
	v := records.Get(keyOf(at))
	if v == nil {
		return events.Record{}, fmt.Errorf("%w: %d", ErrNotFound, at)
	}
	if len(v) > maxStored {
		return events.Record{}, corruptf(at, "", "the stored record has %d bytes", len(v))
	}
	return parseRecord(codec, at, bytes.Clone(v))
}

// headIn reads the end of a stream and checks it against the record it names. Where that is damaged the head stands for itself, so that the
// stream goes on: whoever has to read the record says that it is damaged, and so does Verify.
func headIn(records, heads *bbolt.Bucket, codec *events.Codec, stream events.StreamID) (head, error) {
	if checkStream(stream) != nil {
		return head{}, nil // no log has such a stream, and its name may be one of our own keys
	}
	v := heads.Get([]byte(stream))
	if v == nil {
		return head{}, nil
	}
	h, err := parseHead(stream, v)
	if err != nil {
		return head{}, err
	}
	var r events.Record
	err = withFaults(func() (err error) {
		r, err = recordIn(records, codec, h.Last)
		return err
	})
	if errors.Is(err, events.ErrCorrupt) {
		return h, nil
	}
	if errors.Is(err, ErrNotFound) || err == nil && (r.Stream != stream || after(r) != h) {
		return head{}, corruptf(h.Last, stream, "the head of the stream is not its last record")
	}
	return h, err
}

// chunk collects stored records from a transaction.
type chunk struct {
	found [][]byte // in the transaction's pages
	bytes int
	buf   []byte // copied out of it by keep
	ends  []int
	until time.Time
}

func newChunk(n uint64) *chunk {
	return &chunk{found: make([][]byte, 0, min(n, maxSliceRecords)), until: time.Now().Add(maxSliceTime)}
}

// add takes v, unless the chunk has no room or time for it. It always takes the first.
func (c *chunk) add(v []byte) bool {
	n := len(c.found)
	if n > 0 && (n == maxSliceRecords || c.bytes+len(v) > maxSliceBytes || n%64 == 0 && time.Now().After(c.until)) {
		return false
	}
	c.found, c.bytes = append(c.found, v), c.bytes+len(v)
	return true
}

// keep copies what was found, before the transaction ends.
func (c *chunk) keep() {
	c.buf, c.ends = bytes.Join(c.found, nil), make([]int, 0, len(c.found)) // Join does not clear what it fills
	end := 0
	for _, v := range c.found {
		end += len(v)
		c.ends = append(c.ends, end)
	}
	c.found = nil
}

// slice reads the collected records one by one; at gives their positions.
func (c *chunk) slice(codec *events.Codec, at func(i int) events.Position) slice {
	return slice{n: len(c.ends), at: func(i int) (events.Record, error) {
		start := 0
		if i > 0 {
			start = c.ends[i-1]
		}
		return parseRecord(codec, at(i), c.buf[start:c.ends[i]:c.ends[i]])
	}}
}

func (b *Bolt) read(from, to events.Position) (slice, error) {
	c := newChunk(uint64(to - from + 1))
	next := from
	err := b.viewAt(&next, func(tx *bbolt.Tx) error {
		defer c.keep()
		cursor := tx.Bucket(logBucket).Cursor()
		for k, v := cursor.Seek(keyOf(from)); next <= to; k, v = cursor.Next() {
			if positionOf(k) != next || len(v) > maxStored {
				return corruptf(next, "", "there is no such record")
			}
			if !c.add(v) {
				return nil
			}
			next++
		}
		return nil
	})
	return b.notingErrors(c.slice(b.cfg.Codec, func(i int) events.Position { return from + events.Position(i) })), err
}

func (b *Bolt) pick(at []events.Position) (slice, error) {
	c := newChunk(uint64(len(at)))
	var p events.Position
	err := b.viewAt(&p, func(tx *bbolt.Tx) error {
		defer c.keep()
		cursor := tx.Bucket(logBucket).Cursor()
		for _, p = range at {
			k, v := cursor.Seek(keyOf(p))
			if v == nil || positionOf(k) != p || len(v) > maxStored {
				return corruptf(p, "", "there is no such record")
			}
			if !c.add(v) {
				return nil
			}
		}
		return nil
	})
	return b.notingErrors(c.slice(b.cfg.Codec, func(i int) events.Position { return at[i] })), err
}

// streamPositions follows the back-pointers of a stream, from its end.
func (b *Bolt) streamPositions(ctx context.Context, stream events.StreamID, from events.Version) ([]events.Position, error) {
	version, last, err := b.Head(ctx, stream)
	if err != nil || version < from {
		return nil, err
	}
	at := make([]events.Position, version-from+1)
	next := last
	for left := len(at); left > 0 && err == nil; {
		if err = ctx.Err(); err == nil {
			next, left, err = b.stepBack(stream, from, at, next, left)
		}
	}
	return at, err
}

// stepBack fills at[:left] from its end with the positions from next on backwards, as far as one transaction may read.
func (b *Bolt) stepBack(stream events.StreamID, from events.Version, at []events.Position, next events.Position, left int) (events.Position, int, error) {
	until := time.Now().Add(maxSliceTime)
	stop := max(0, left-maxSliceRecords)
	err := b.viewAt(&next, func(tx *bbolt.Tx) error {
		records := tx.Bucket(logBucket)
		for left > stop && (left%64 != 0 || time.Now().Before(until)) {
			r, err := parseRecord(b.cfg.Codec, next, records.Get(keyOf(next)))
			if err != nil {
				return err
			}
			if want := from + events.Version(left-1); r.Stream != stream || r.Version != want {
				return corruptf(next, stream, "is version %d of %s, not %d", r.Version, r.Stream, want)
			}
			left--
			at[left], next = next, r.Previous
		}
		return nil
	})
	return next, left, err
}

// slice is a run of records that was read at once. They need no transaction any more.
type slice struct {
	n  int
	at func(i int) (events.Record, error)
}

// each yields the records of s. It returns errEnough, an error that must be yielded, or nil.
func (s slice) each(ctx context.Context, yield func(events.Record, error) bool) error {
	for i := range s.n {
		if err := ctx.Err(); err != nil {
			return err
		}
		r, err := s.at(i)
		if err != nil {
			return err
		}
		if !yield(r, nil) {
			return errEnough
		}
	}
	return nil
}
