package eventlog

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/cmemd/cmemd/events"
)

// Readable is log without what is damaged in it: All, Follow and Stream go on past records that cannot be read, Get says of one
// that it is not found, and Erase erases the others. left, which may be nil, is called with each position that was left out,
// more than once perhaps.
func Readable(log Log, skipped func(events.Position)) Log {
	if skipped == nil {
		skipped = func(events.Position) {}
	}
	return readableLog{readable{log, skipped}, log}
}

// ReadableFrom is Readable of what is only read.
func ReadableFrom(log Reader) Reader { return readable{log, func(events.Position) {}} }

type readable struct {
	Reader
	skipped func(events.Position)
}

// readableLog is readable of a log that is written too.
type readableLog struct {
	readable
	log Log
}

// Append implements Log.
func (r readableLog) Append(
	ctx context.Context, stream events.StreamID, expected events.Version, drafts ...events.Draft,
) ([]events.Record, error) {
	return r.log.Append(ctx, stream, expected, drafts...)
}

// Close implements Log.
func (r readableLog) Close() error { return r.log.Close() }

// Unwrap returns the log with what is damaged in it.
func (r readable) Unwrap() Reader { return r.Reader }

// NoteDamage is that of the log, if it has one.
func (r readable) NoteDamage(e *CorruptError) {
	if b, ok := r.Reader.(interface{ NoteDamage(*CorruptError) }); ok {
		b.NoteDamage(e)
	}
}

// Get implements Log. What is damaged is ErrNotFound and *CorruptError.
func (r readable) Get(ctx context.Context, at events.Position) (events.Record, error) {
	rec, err := r.Reader.Get(ctx, at)
	if errors.Is(err, events.ErrCorrupt) {
		r.skipped(at)
		err = fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	return rec, err
}

// All implements Log.
func (r readable) All(ctx context.Context, from events.Position) iter.Seq2[events.Record, error] {
	return r.skipUnreadable(ctx, from, r.Reader.All)
}

// Follow implements Log.
func (r readable) Follow(ctx context.Context, from events.Position) iter.Seq2[events.Record, error] {
	return r.skipUnreadable(ctx, from, r.Reader.Follow)
}

// skipUnreadable is what read yields, and goes on behind what it cannot read.
func (r readable) skipUnreadable(
	ctx context.Context, from events.Position, read func(context.Context, events.Position) iter.Seq2[events.Record, error],
) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		next := max(from, 1)
		for more := true; more; {
			var err error
			for rec, e := range read(ctx, next) {
				if err = e; err != nil {
					break
				}
				if next = rec.Position + 1; !yield(rec, nil) {
					return
				}
			}
			if !errors.Is(err, events.ErrCorrupt) {
				finish(err, yield)
				return
			}
			next, more = r.step(ctx, next, yield)
		}
	}
}

// step reads the records of a slice that cannot be read at once, one by one, from a position on, and returns where to go on.
func (r readable) step(ctx context.Context, next events.Position, yield func(events.Record, error) bool) (events.Position, bool) {
	last, err := r.Last(ctx)
	for end := min(last, next+maxSliceRecords-1); err == nil && next <= end; next++ {
		var rec events.Record
		if rec, err = r.Get(ctx, next); errors.Is(err, ErrNotFound) {
			err = nil
			continue
		}
		if err == nil && !yield(rec, nil) {
			return next, false
		}
	}
	finish(err, yield)
	return next, err == nil
}

// Stream implements Log. Where the stream's own order cannot be followed, it looks through all records for it.
func (r readable) Stream(ctx context.Context, stream events.StreamID, from events.Version) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		next := max(from, 1)
		var err error
		for rec, e := range r.Reader.Stream(ctx, stream, next) {
			if err = e; err != nil {
				break
			}
			if next = rec.Version + 1; !yield(rec, nil) {
				return
			}
		}
		if !errors.Is(err, events.ErrCorrupt) {
			finish(err, yield)
			return
		}
		for rec, err := range r.All(ctx, 1) {
			if err == nil && (rec.Stream != stream || rec.Version < next) {
				continue
			}
			if !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// Erase implements Log, of what can be read.
func (r readableLog) Erase(ctx context.Context, at ...events.Position) error {
	err := r.log.Erase(ctx, at...)
	if !errors.Is(err, events.ErrCorrupt) {
		return err
	}
	var whole []events.Position
	for _, p := range at {
		_, err := r.Get(ctx, p)
		switch {
		case err == nil:
			whole = append(whole, p)
		case !errors.Is(err, events.ErrCorrupt):
			return err
		}
	}
	return r.log.Erase(ctx, whole...)
}
