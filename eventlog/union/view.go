package union

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// Copy is what is here of another log.
type Copy struct {
	Log   events.LogID    `json:"log"`
	Last  events.Position `json:"last"`  // of its own; the next run begins behind it
	Shown events.Position `json:"shown"` // of its own; what is behind waits for what it names
	Bytes int64           `json:"bytes"` // of its file
	// Damage is in words: why Open began the copy anew, or what was met since, so that the next Open does.
	Damage string `json:"damage,omitempty"`
}

// Copies says what is here of other logs, in the order in which they came.
func (u *Union) Copies() []Copy {
	u.mu.Lock()
	o, bolts, damage := u.order, u.bolts, maps.Clone(u.damage)
	u.mu.Unlock()
	all := make([]Copy, 0, len(bolts)-1)
	for n, b := range bolts[1:] {
		id := o.logs[n+1]
		one := Copy{Log: id, Shown: o.shown(uint32(n + 1)), Damage: damage[id]}
		if b == nil {
			one.Damage = u.asideReasons[id]
		} else {
			one.Last, _, _ = b.State()
			one.Bytes = sizeOf(b.Path())
		}
		all = append(all, one)
	}
	return all
}

// Verify reads a copy as eventlog.Verify does, and notes damage. The error may also be ErrUnknown.
func (u *Union) Verify(ctx context.Context, log events.LogID, progress func(done, total uint64)) error {
	v, err := u.view()
	if err != nil {
		return err
	}
	n, known := v.number(log)
	if !known || n == ownNumber || v.bolts[n] == nil {
		return fmt.Errorf("%w: %s", ErrUnknown, log)
	}
	err = eventlog.Verify(ctx, v.bolts[n], progress)
	if errors.Is(err, events.ErrCorrupt) {
		u.note(log, err.Error())
	}
	return err
}

// ID says which order it is: as long as it is the same, positions mean the same records, and what follows is behind
// them. Until something of another log is here that is the own log's. It is zero for an empty log.
func (u *Union) ID(ctx context.Context) (events.LogID, error) {
	u.mu.Lock()
	id := u.id
	u.mu.Unlock()
	if !id.IsZero() {
		return id, nil
	}
	return eventlog.ID(ctx, u.own)
}

// Where says whose record is at a position, and where its log has it. It is false for a position that has none yet.
func (u *Union) Where(at events.Position) (events.Place, bool) {
	v, err := u.view()
	if err != nil || at == 0 || at > v.last {
		return events.Place{}, false
	}
	s, _ := v.find(at)
	place := events.Place{Position: s.first + at - s.at}
	if s.log != ownNumber {
		place.Log = v.logs[s.log]
	}
	return place, true
}

// At says where a record of the own log, or of a copy, is. It is false for one that is not here, or that waits.
func (u *Union) At(place events.Place) (events.Position, bool) {
	v, err := u.view()
	n, known := v.numberOf(place.Log)
	if err != nil || !known {
		return 0, false
	}
	at := v.at(n, place.Position)
	return at, at > 0 && at <= v.last
}

// view is the union at one moment.
type view struct {
	*order
	bolts               []*eventlog.Bolt // by number; nil: nothing came of that log yet
	last                events.Position
	ownChanged, changed <-chan struct{} // closed when there may be more
}

// view returns what readers may see now.
func (u *Union) view() (view, error) {
	last, ownChanged, err := u.own.State() // before what is held: who holds has seen no less
	u.mu.Lock()
	defer u.mu.Unlock()
	if err == nil {
		err = u.ended
	}
	v := view{order: u.order, bolts: u.bolts, ownChanged: ownChanged, changed: u.changed}
	v.last = v.end(min(last, u.held))
	return v, err
}

// moved is a record of the stretch s as a reader of the union sees it. Where nothing of other logs stands before it that is what it is.
func (v view) moved(s stretch, r events.Record) events.Record {
	if s.log == ownNumber && s.at == s.first {
		return r
	}
	known := time.Unix(0, s.known).UTC()
	if s.log == ownNumber && r.RecordedAt.After(known) {
		known = r.RecordedAt
	}
	var log events.LogID
	if s.log != ownNumber {
		log = v.logs[s.log]
		r.Stream = r.Stream.In(log)
	}
	r.RecordedAt = known
	return r.Moved(log, s.at+r.Position-s.first, v.at(s.log, r.Previous), func(p events.Position) events.Position { return v.at(s.log, p) })
}

// explain is the error of a log's reader as one of the union's: with positions of the union, and whose log it is.
// Damage of a copy is noted.
func (u *Union) explain(v view, log uint32, err error) error {
	damage, damaged := errors.AsType[*eventlog.CorruptError](err)
	if log == ownNumber {
		if damaged && damage.Position != 0 {
			return &eventlog.CorruptError{Position: v.at(ownNumber, damage.Position), Stream: damage.Stream, Reason: damage.Reason}
		}
		return err
	}
	id := v.logs[log]
	switch {
	case damaged:
		u.note(id, damage.Error())
		stream := damage.Stream
		if stream != "" {
			stream = stream.In(id)
		}
		return &eventlog.CorruptError{
			Position: v.at(log, damage.Position), Stream: stream,
			Reason: fmt.Sprintf("the copy of log %s is damaged at its position %d: %s", id, damage.Position, damage.Reason),
		}
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return cmp.Or(u.err(), copyErr(id, err))
}

// note keeps what damage was met in a copy.
func (u *Union) note(log events.LogID, damage string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.damage[log] = cmp.Or(u.damage[log], damage)
}

func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
