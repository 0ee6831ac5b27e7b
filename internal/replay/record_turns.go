package replay

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
)

// Selection is what of a log is looked at. The zero value is all of it.
type Selection struct {
	Sessions []events.SessionID // none: all
	Since    time.Time          // turns whose end was recorded then or later; zero: from the beginning
	Until    time.Time          // and before this; zero: to the end
}

// session reports whether the events of a session belong to s.
func (s Selection) session(id events.SessionID) bool {
	return len(s.Sessions) == 0 || slices.Contains(s.Sessions, id)
}

// containsTime reports whether what was recorded at t belongs to s.
func (s Selection) containsTime(t time.Time) bool {
	return !t.Before(s.Since) && !s.past(t)
}

// past reports whether nothing that is recorded at t or later belongs to s.
func (s Selection) past(t time.Time) bool { return !s.Until.IsZero() && !t.Before(s.Until) }

// endedTurn is a turn that was answered or failed, as the log has it.
type endedTurn struct {
	session events.SessionID
	started events.TurnStarted // zero, but for Turn, where known is false
	known   bool               // started was in view, and is not erased
	began   time.Time          // when it occurred; zero where known is false
	head    events.Record      // TurnReceived or TurnFailed
	rest    []events.Record    // what it led to: the rest of its append
}

// turnReader finds the ended turns of a selection in one pass. It keeps the turn in flight of each session.
type turnReader struct {
	sel      Selection
	sessions map[events.StreamID]*turnsOf // nil: not of the selection
	ended    *endedTurn                   // whose append may go on
	seen     readRange
	decoder  decoder
	onTurn   func(endedTurn) error     // takes every ended turn, in the order of the log
	onRuling func(events.Record) error // takes every other ruling on sessions of the selection, and of every DaemonStarted before its end; nil: nobody is
}

// turnsOf is one session of the selection.
type turnsOf struct {
	id       events.SessionID
	inFlight *events.TurnStarted
	began    time.Time // when flying occurred
}

// readRange is how far a reading came.
type readRange struct {
	first, last events.Position
	at          time.Time // when the last record was recorded
}

// recordReader takes the records of a log one by one, in their order.
type recordReader interface {
	read(r events.Record) error
	flush() error // after the last one
}

// read has readers take records up to the end of s, and reports whether there are more. Records are read ahead of readers.
func (s Selection) read(records iter.Seq2[events.Record, error], readers ...recordReader) (more bool, err error) {
	for r, err := range readAhead(records) {
		if err != nil {
			return false, err
		}
		if more = s.past(r.RecordedAt); more {
			break
		}
		for _, to := range readers {
			if err := to.read(r); err != nil {
				return false, err
			}
		}
	}
	for _, to := range readers {
		if err := to.flush(); err != nil {
			return false, err
		}
	}
	return more, nil
}

func (t *turnReader) read(r events.Record) error {
	t.seen.first = cmp.Or(t.seen.first, r.Position)
	t.seen.last, t.seen.at = r.Position, r.RecordedAt
	if t.ended != nil {
		if r.Stream == t.ended.head.Stream && r.Correlation == t.ended.head.Correlation && r.Kind != events.KindTurnStarted {
			t.ended.rest = append(t.ended.rest, r)
			return t.rule(r)
		}
		if err := t.flush(); err != nil {
			return err
		}
	}
	switch r.Kind {
	case events.KindTurnStarted, events.KindTurnReceived, events.KindTurnFailed:
		return t.ofTurn(r)
	}
	return t.rule(r)
}

// rule passes on a ruling of the selection, or the beginning of a life before its end.
func (t *turnReader) rule(r events.Record) error {
	if t.onRuling == nil {
		return nil
	}
	switch r.Kind {
	case events.KindInputsDropped, events.KindSessionRespawned, events.KindSessionQuarantined:
		if t.sel.containsTime(r.RecordedAt) && t.session(r.Stream) != nil {
			return t.onRuling(r)
		}
	case events.KindDaemonStarted:
		return t.onRuling(r)
	}
	return nil
}

// flush passes on the turn whose append is over.
func (t *turnReader) flush() error {
	if t.ended == nil {
		return nil
	}
	e := *t.ended
	t.ended = nil
	return t.onTurn(e)
}

func (t *turnReader) session(stream events.StreamID) *turnsOf {
	s, known := t.sessions[stream]
	if !known {
		if id, ok := stream.Session(); ok && t.sel.session(id) {
			s = &turnsOf{id: id}
		}
		t.sessions[stream] = s
	}
	return s
}

func (t *turnReader) ofTurn(r events.Record) error {
	s := t.session(r.Stream)
	if s == nil {
		return nil
	}
	if r.Kind == events.KindTurnStarted {
		e, err := decode[events.TurnStarted](t.decoder, r)
		s.inFlight, s.began = e, r.OccurredAt
		return err
	}
	flying := s.inFlight
	s.inFlight = nil
	if !t.sel.containsTime(r.RecordedAt) {
		return nil
	}
	t.ended = &endedTurn{session: s.id, head: r, started: events.TurnStarted{Turn: r.Correlation}}
	if flying != nil && flying.Turn == r.Correlation {
		t.ended.started, t.ended.known, t.ended.began = *flying, true, s.began
	}
	return nil
}

// decode returns the event of r; nil if its payload was erased.
func decode[E events.Event](d decoder, r events.Record) (*E, error) {
	e, err := d.event(r)
	if e == nil || err != nil {
		return nil, err
	}
	typed, ok := e.(E)
	if !ok {
		return nil, fmt.Errorf("replay: record %d holds %T", r.Position, e)
	}
	return &typed, nil
}

// eventOf is the event of r; nil if its payload was erased.
func eventOf(r events.Record) (events.Event, error) {
	e, err := r.Event()
	if errors.Is(err, events.ErrErased) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	return e, nil
}
