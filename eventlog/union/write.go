package union

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// ErrForeign is a position of another log's record where only the own log's can be named.
var ErrForeign = errors.New("union: that record is of another machine")

// Joined reports whether records of other logs have a place: from then on readers see records moved.
func (u *Union) Joined() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.order.stretches) > 0
}

// Logs are the logs of other machines of which something is here.
func (u *Union) Logs() []events.LogID {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.order.logs[1:])
}

// Log is a Union that can be written to. Its callers know positions of the union alone, in what they give and in what they get; it
// translates them from and to positions of the own log, and nothing else does.
type Log struct{ *Union }

var _ eventlog.Log = Log{}

// Append implements eventlog.Log: it appends to the own log. ErrForeign is a draft that names a record of another log.
func (l Log) Append(
	ctx context.Context, stream events.StreamID, expected events.Version, drafts ...events.Draft,
) ([]events.Record, error) {
	if !l.Joined() {
		return l.own.Append(ctx, stream, expected, drafts...)
	}
	named := make([]events.Draft, len(drafts))
	for i, d := range drafts {
		var err error
		if d.Event, err = Own(l, d.Event); err != nil {
			return nil, err
		}
		named[i] = d
	}
	records, err := l.own.Append(ctx, stream, expected, named...)
	for i, r := range records {
		records[i] = l.seen(r)
	}
	return records, err
}

// seen is a record of the own log, that was just appended, as readers see it.
func (l Log) seen(r events.Record) events.Record {
	v := l.shown(r.Position)
	s, _, _ := v.locate(ownNumber, r.Position)
	return v.moved(s, r)
}

// shown returns the union once it shows the own log's record at a position, which is there. Meanwhile others may just be getting
// places before it, which takes as long as a write to disk.
func (l Log) shown(at events.Position) view {
	for {
		v, err := l.view()
		if p := v.at(ownNumber, at); err != nil || p > 0 && p <= v.last {
			return v
		}
		<-v.changed
	}
}

// Erase implements eventlog.Log, of the own log's records. ErrForeign is one of another's: Union.Erase takes those.
func (l Log) Erase(ctx context.Context, at ...events.Position) error {
	named, err := Own(l, at)
	if err != nil {
		return err
	}
	return l.own.Erase(ctx, named...)
}

// Close implements eventlog.Log, and closes nothing: who opened the Union and the own log closes them.
func (l Log) Close() error { return nil }

// Head implements eventlog.Log. Where the own log has the stream the version is its, so that whoever appends at the end finds it.
func (l Log) Head(ctx context.Context, stream events.StreamID) (events.Version, events.Position, error) {
	version, last, err := l.own.Head(ctx, stream)
	if err != nil || last == 0 {
		return l.Union.Head(ctx, stream)
	}
	at, _ := l.At(events.Place{Position: last})
	return version, at, nil
}

// Own is v, an event, a command or positions, with the own log's positions in the place of the union's, wherever there are any.
// The error is ErrForeign.
func Own[T any](l Log, v T) (T, error) {
	if !l.Joined() {
		return v, nil
	}
	var foreign error
	named := events.Reposition(v, func(p events.Position) events.Position {
		place, ok := l.Where(p)
		if !ok || !place.Log.IsZero() {
			foreign = fmt.Errorf("%w: %d", ErrForeign, p)
		}
		return place.Position
	}, l.Before)
	return named, foreign
}

// Before is where the own log has the last of its records at a position or before it; 0: there is none.
func (l Log) Before(at events.Position) events.Position {
	v, err := l.view()
	if err != nil || !l.Joined() {
		return at
	}
	at = min(at, v.last)
	for at > 0 {
		s, _ := v.find(at)
		if s.log == ownNumber {
			return s.first + at - s.at
		}
		at = s.at - 1
	}
	return 0
}

// Seen is where readers of the union have the own log's record at a position, which is there; 0 stays 0.
func (l Log) Seen(at events.Position) events.Position {
	if at == 0 || !l.Joined() {
		return at
	}
	return l.shown(at).at(ownNumber, at)
}
