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

// EventsOfAll is Events of the own log's stream and, where log reads other machines' logs too, of theirs of that name, one log
// after the other.
func EventsOfAll[E events.Event](ctx context.Context, log Reader, stream events.StreamID) iter.Seq2[Entry[E], error] {
	streams := []events.StreamID{stream}
	if u, ok := log.(interface{ Logs() []events.LogID }); ok {
		for _, id := range u.Logs() {
			streams = append(streams, stream.In(id))
		}
	}
	return func(yield func(Entry[E], error) bool) {
		for _, s := range streams {
			for e, err := range Events[E](ctx, log, s, 1) {
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// Events yields the events of type E in a stream, from a version on, as Log.Stream yields records. It decodes no others,
// and passes over those whose payload was erased. An error ends the sequence.
func Events[E events.Event](
	ctx context.Context, log Reader, stream events.StreamID, from events.Version,
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
