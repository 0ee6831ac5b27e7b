package server

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/panics"
)

const (
	heartbeat   = 15 * time.Second // between two signs of life where nothing happens
	eventBuffer = 256              // records read ahead of a client
)

// watch is what somebody wants to see of the log.
type watch struct {
	from    events.Position
	stream  events.StreamID
	kinds   []string
	payload bool
}

// admits reports whether a record is wanted.
func (q watch) admits(h events.Header) bool {
	return (q.stream == "" || h.Stream == q.stream) && (len(q.kinds) == 0 || slices.Contains(q.kinds, string(h.Kind)))
}

func (s *Server) watchOf(r *http.Request) (watch, error) {
	p := paramsOf(r, "after", "tail", "stream", "kinds", "payload")
	q := watch{from: p.position("after") + 1, stream: events.StreamID(p.text("stream")), payload: p.flag("payload")}
	if names := p.text("kinds"); names != "" {
		q.kinds = strings.Split(names, ",")
	}
	tail := p.flag("tail")
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		n, err := strconv.ParseUint(last, 10, 63)
		if err != nil {
			p.wrong("Last-Event-ID", "is no position: a whole number from 0 on")
		}
		q.from, tail = events.Position(n)+1, false
	}
	if err := p.err(); err != nil {
		return watch{}, err
	}
	if tail {
		last, err := s.cfg.Log.Last(r.Context())
		if err != nil {
			return watch{}, err
		}
		q.from = last + 1
	}
	return q, nil
}

// getEvents sends records as they come. The log waits for nobody: it is read at the client's pace, and a client that
// does not read is dropped by the time limit of a write.
func (s *Server) getEvents(w http.ResponseWriter, r *http.Request) error {
	q, err := s.watchOf(r)
	if err != nil {
		return err
	}
	out, err := newSSE(w)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	found := make(chan events.Record, eventBuffer)
	var readErr error
	go func() {
		defer close(found)
		defer func() {
			if p := recover(); p != nil {
				readErr = panics.Caught(s.logger, r.Pattern, p)
			}
		}()
		readErr = s.follow(ctx, q, found)
	}()
	err = send(out, found, q.payload)
	cancel()
	for range found {
	}
	if err == nil && r.Context().Err() == nil {
		err = readErr
	}
	return err
}

// follow hands over the records that q admits until ctx is done or the log ends.
func (s *Server) follow(ctx context.Context, q watch, found chan<- events.Record) error {
	for rec, err := range s.cfg.Log.Follow(ctx, q.from) {
		if err != nil {
			return err
		}
		if !q.admits(rec.Header) {
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

// send writes records until there are no more, or the other end is gone. What comes together is flushed together.
func send(out *sse, found <-chan events.Record, payload bool) error {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case rec, ok := <-found:
			if !ok {
				return nil
			}
			id := strconv.FormatUint(uint64(rec.Position), 10)
			if err := out.send(id, string(rec.Kind), logRecord(rec, payload)); err != nil {
				return err
			}
			if len(found) > 0 {
				continue
			}
			if err := out.out.flush(); err != nil {
				return err
			}
		case <-tick.C:
			if err := out.beat(); err != nil {
				return err
			}
		}
	}
}
