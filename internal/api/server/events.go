package server

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/stream"
	"github.com/cmemd/cmemd/internal/panics"
)

// eventBuffer is how many records are read ahead of a client.
const eventBuffer = 256

// lastSeen is the position that a client says it has seen last, if it says one.
func lastSeen(r *http.Request, wrong api.Wrong) (at events.Position, said bool) {
	last := r.Header.Get("Last-Event-ID")
	n, err := strconv.ParseUint(last, 10, 63)
	if err != nil && last != "" {
		wrong("Last-Event-ID", "is no position: a whole number from 0 on")
	}
	return events.Position(n), last != ""
}

// checkLastSeen notes what is wrong with the header that lastSeen reads.
func checkLastSeen(r *http.Request, wrong api.Wrong) { lastSeen(r, wrong) }

// followedFrom is the first position that q is about. What a client says it has seen last goes before all else.
func (s *logs) followedFrom(r *http.Request, q api.EventsQuery) (events.Position, error) {
	if last, said := lastSeen(r, nil); said { // checked before
		return last + 1, nil
	}
	if !q.Tail {
		return q.After + 1, nil
	}
	last, err := s.Log.Last(r.Context())
	return last + 1, err
}

// getEvents sends records as they come. The log waits for nobody: it is read at the client's pace, and a client that
// does not read is dropped by the time limit of a write.
func (s *logs) getEvents(w http.ResponseWriter, r *http.Request, q api.EventsQuery) error {
	from, err := s.followedFrom(r, q)
	if err != nil {
		return err
	}
	out, err := stream.NewEvents(w)
	if err != nil {
		return err
	}
	if err := s.hello(r.Context(), out, q); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	found := make(chan events.Record, eventBuffer)
	var readErr error
	go func() {
		defer close(found)
		defer panics.Catch(&readErr, s.logger, r.Pattern)
		readErr = s.follow(ctx, from, q, found)
	}()
	err = send(out, found, q.Payload)
	cancel()
	for range found {
	}
	if err == nil && r.Context().Err() == nil {
		err = readErr
	}
	return err
}

// hello says which log a stream is of, if q asks for that: who comes back to another one begins anew.
func (s *logs) hello(ctx context.Context, out *stream.Events, q api.EventsQuery) error {
	if !q.Hello {
		return nil
	}
	last, err := s.Log.Last(ctx)
	if err != nil {
		return err
	}
	id, err := eventlog.ID(ctx, s.Log)
	if err != nil {
		return err
	}
	if err := out.Send("", api.EventHello, api.Hello{Log: id, Last: last}); err != nil {
		return err
	}
	return out.Flush()
}

// follow hands over the records that q admits until ctx is done or the log ends.
func (s *logs) follow(ctx context.Context, from events.Position, q api.EventsQuery, found chan<- events.Record) error {
	admits := api.Admits(q.Stream, q.Kinds)
	for rec, err := range s.Log.Follow(ctx, from) {
		if err != nil {
			return err
		}
		if !admits(rec.Header) {
			continue
		}
		select {
		case found <- rec:
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// flushEvery is how often a stream is flushed at most: at 2,000 records a second each flush would wake both ends for one of them.
const flushEvery = 25 * time.Millisecond

// send writes records until there are no more, or the other end is gone. One that comes after a pause is sent at once; what comes
// within flushEvery of it is flushed together.
func send(out *stream.Events, found <-chan events.Record, payload bool) error {
	tick := time.NewTicker(stream.Heartbeat)
	defer tick.Stop()
	var flushed time.Time
	var due <-chan time.Time // when what was written is flushed; nil: nothing waits, or more is at hand
	flush := func() error {
		flushed, due = time.Now(), nil
		return out.Flush()
	}
	for {
		select {
		case rec, ok := <-found:
			if !ok {
				return nil
			}
			id := strconv.FormatUint(uint64(rec.Position), 10)
			if err := out.Send(id, string(rec.Kind), api.RecordOf(rec, payload)); err != nil {
				return err
			}
			if len(found) > 0 || due != nil {
				continue
			}
			if wait := flushEvery - time.Since(flushed); wait > 0 {
				due = time.After(wait)
				continue
			}
			if err := flush(); err != nil {
				return err
			}
		case <-due:
			if err := flush(); err != nil {
				return err
			}
		case <-tick.C:
			if err := out.Beat(); err != nil {
				return err
			}
		}
	}
}
