package eventlog

import (
	"context"
	"errors"
	"iter"

	"github.com/cmemd/cmemd/events"
)

// Entry is a record of a stream with its event.
type Entry[E events.Event] struct {
	events.Header
	Event E
}

// Events yields the events of type E in a stream, from a version on, as Log.Stream yields records. It decodes no others,
// and passes over those whose payload was erased. An error ends the sequence.
func Events[E events.Event](
	ctx context.Context, log Log, stream events.StreamID, from events.Version,
) iter.Seq2[Entry[E], error] {
	var zero E
	kind := events.KindOf(zero)
	return func(yield func(Entry[E], error) bool) {
		for r, err := range log.Stream(ctx, stream, from) {
			if err == nil && r.Kind != kind {
				continue
			}
			entry := Entry[E]{Header: r.Header}
			if err == nil {
				var e events.Event
				e, err = r.Event()
				entry.Event, _ = e.(E)
			}
			if errors.Is(err, events.ErrErased) {
				continue
			}
			if !yield(entry, err) || err != nil {
				return
			}
		}
	}
}
