package eventlog

import (
	"context"
	"errors"
	"iter"

	"github.com/cmemd/cmemd/events"
)

// source is what an engine offers to its iterators. None of its calls runs code of the consumer.
type source interface {
	// state is the feed's.
	state() (last events.Position, changed <-chan struct{}, err error)
	// read returns records from up to and with to, at least one, as many as a slice holds.
	read(from, to events.Position) (slice, error)
	// trail returns the positions of stream's records from a version on, in order.
	trail(ctx context.Context, stream events.StreamID, from events.Version) ([]events.Position, error)
	// pick returns the records at the first of the given ascending positions, at least one.
	pick(at []events.Position) (slice, error)
}

// slice is a run of records that was read at once. They need no transaction any more.
type slice struct {
	n  int
	at func(i int) (events.Record, error)
}

// errEnough ends a walk whose consumer wants no more.
var errEnough = errors.New("enough")

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

// walk yields the records from up to and with to.
func walk(ctx context.Context, src source, from, to events.Position, yield func(events.Record, error) bool) error {
	for from <= to {
		if err := ctx.Err(); err != nil {
			return err
		}
		s, err := src.read(from, to)
		if err != nil {
			return err
		}
		if err := s.each(ctx, yield); err != nil {
			return err
		}
		from += events.Position(s.n)
	}
	return nil
}

// finish yields err, unless there is none or the consumer has gone.
func finish(err error, yield func(events.Record, error) bool) {
	if err != nil && !errors.Is(err, errEnough) {
		yield(events.Record{}, err)
	}
}

// all is Log.All over src.
func all(ctx context.Context, src source, from events.Position) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		last, _, err := src.state()
		if err == nil {
			err = walk(ctx, src, max(from, 1), last, yield)
		}
		finish(err, yield)
	}
}

// follow is Log.Follow over src.
func follow(ctx context.Context, src source, from events.Position) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		next := max(from, 1)
		for ctx.Err() == nil {
			last, changed, err := src.state()
			if err == nil {
				err = walk(ctx, src, next, last, yield)
			}
			if err != nil {
				if ctx.Err() == nil {
					finish(err, yield)
				}
				return
			}
			next = max(next, last+1)
			select {
			case <-changed:
			case <-ctx.Done():
			}
		}
	}
}

// stream is Log.Stream over src.
func stream(ctx context.Context, src source, id events.StreamID, from events.Version) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		at, err := src.trail(ctx, id, max(from, 1))
		for err == nil && len(at) > 0 {
			var s slice
			if s, err = src.pick(at); err == nil {
				err = s.each(ctx, yield)
				at = at[s.n:]
			}
		}
		finish(err, yield)
	}
}
