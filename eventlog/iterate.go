package eventlog

import (
	"context"
	"errors"
	"iter"

	"github.com/cmemd/cmemd/events"
)

// errEnough ends a walk whose consumer wants no more.
var errEnough = errors.New("enough")

// walker yields the records from one position up to and with another. The error must be yielded, unless it is errEnough.
type walker func(ctx context.Context, from, to events.Position, yield func(events.Record, error) bool) error

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

// walkRecent is walk, and takes from memory what was appended of late. What is read from the file goes no further than to what is there.
func (b *Bolt) walkRecent(ctx context.Context, from, to events.Position, yield func(events.Record, error) bool) error {
	for from <= to {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r, ok := b.recent.get(from); ok {
			if !yield(r, nil) {
				return errEnough
			}
			from++
			continue
		}
		end := b.recent.missing(from, to)
		if err := b.walk(ctx, from, end, yield); err != nil {
			return err
		}
		from = end + 1
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
	return b.between(ctx, from, to, b.walk)
}

// Followed yields what Between does, as Follow does.
func (b *Bolt) Followed(ctx context.Context, from, to events.Position) iter.Seq2[events.Record, error] {
	return b.between(ctx, from, to, b.walkRecent)
}

func (b *Bolt) between(ctx context.Context, from, to events.Position, walk walker) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		err := b.endErr()
		if err == nil {
			err = walk(ctx, max(from, 1), to, yield)
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
				err = b.walkRecent(ctx, next, last, yield)
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
