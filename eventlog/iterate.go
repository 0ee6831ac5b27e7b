package eventlog

import (
	"context"
	"errors"
	"iter"

	"github.com/cmemd/cmemd/events"
)

// errEnough ends a walk whose consumer wants no more.
var errEnough = errors.New("enough")

// walk yields the records from up to and with to.
func (b *Bolt) walk(ctx context.Context, from, to events.Position, yield func(events.Record, error) bool) error {
	for from <= to {
		if err := ctx.Err(); err != nil {
			return err
		}
		s, err := b.read(from, to)
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

// All implements Log.
func (b *Bolt) All(ctx context.Context, from events.Position) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		last, _, err := b.State()
		if err == nil {
			err = b.walk(ctx, max(from, 1), last, yield)
		}
		finish(err, yield)
	}
}

// Between yields the records from position from up to and with to, which the log must hold, as All does.
func (b *Bolt) Between(ctx context.Context, from, to events.Position) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		err := b.ended()
		if err == nil {
			err = b.walk(ctx, max(from, 1), to, yield)
		}
		finish(err, yield)
	}
}

// Follow implements Log.
func (b *Bolt) Follow(ctx context.Context, from events.Position) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		next := max(from, 1)
		for ctx.Err() == nil {
			last, changed, err := b.State()
			if err == nil {
				err = b.walk(ctx, next, last, yield)
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

// Stream implements Log.
func (b *Bolt) Stream(ctx context.Context, id events.StreamID, from events.Version) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		at, err := b.streamPositions(ctx, id, max(from, 1))
		for err == nil && len(at) > 0 {
			var s slice
			if s, err = b.pick(at); err == nil {
				err = s.each(ctx, yield)
				at = at[s.n:]
			}
		}
		finish(err, yield)
	}
}
