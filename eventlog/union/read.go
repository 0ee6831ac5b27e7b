package union

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// errEnough ends a walk whose consumer wants no more.
var errEnough = errors.New("enough")

// finish yields err, unless there is none or the consumer has gone.
func finish(err error, yield func(events.Record, error) bool) {
	if err != nil && !errors.Is(err, errEnough) {
		yield(events.Record{}, err)
	}
}

// Get implements eventlog.Reader.
func (u *Union) Get(ctx context.Context, at events.Position) (events.Record, error) {
	v, err := u.view()
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return events.Record{}, err
	}
	if at == 0 || at > v.last {
		return events.Record{}, fmt.Errorf("%w: %d", eventlog.ErrNotFound, at)
	}
	s, _ := v.find(at)
	r, err := v.bolts[s.log].Get(ctx, s.first+at-s.at)
	if err != nil {
		return r, u.explain(v, s.log, err)
	}
	return v.moved(s, r), nil
}

// GetMany is eventlog.GetAll of a union.
func (u *Union) GetMany(ctx context.Context, at ...events.Position) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for len(at) > 0 {
			v, err := u.view()
			log, same := v.sameLog(at)
			if err != nil || len(same) == 0 { // Get says why
				if !yield(u.Get(ctx, at[0])) {
					return
				}
				at = at[1:]
				continue
			}
			for r, err := range v.bolts[log].GetMany(ctx, same...) {
				if !yield(u.seen(v, log, r, err)) {
					return
				}
			}
			at = at[len(same):]
		}
	}
}

// sameLog returns the first of some positions that are of one log, as they are in that.
func (v view) sameLog(at []events.Position) (log uint32, same []events.Position) {
	for _, p := range at {
		if p == 0 || p > v.last {
			break
		}
		s, _ := v.find(p)
		if len(same) > 0 && s.log != log {
			break
		}
		log, same = s.log, append(same, s.first+p-s.at)
	}
	return log, same
}

// seen is what a log's reader returned, as a reader of the union sees it.
func (u *Union) seen(v view, log uint32, r events.Record, err error) (events.Record, error) {
	if err != nil {
		return events.Record{}, u.explain(v, log, err)
	}
	s, _, _ := v.locate(log, r.Position)
	return v.moved(s, r), nil
}

// All implements eventlog.Reader.
func (u *Union) All(ctx context.Context, from events.Position) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		v, err := u.view()
		if err == nil {
			err = u.walk(ctx, v, max(from, 1), (*eventlog.Bolt).Between, yield)
		}
		finish(err, yield)
	}
}

// Follow implements eventlog.Reader.
func (u *Union) Follow(ctx context.Context, from events.Position) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		next := max(from, 1)
		for ctx.Err() == nil {
			v, err := u.view()
			if err == nil {
				err = u.walk(ctx, v, next, (*eventlog.Bolt).Followed, yield)
			}
			if err != nil {
				if ctx.Err() == nil {
					finish(err, yield)
				}
				return
			}
			next = max(next, v.last+1)
			select {
			case <-v.ownChanged:
			case <-v.changed:
			case <-ctx.Done():
			}
		}
	}
}

// reading reads records of one log from a position up to and with another.
type reading func(b *eventlog.Bolt, ctx context.Context, from, to events.Position) iter.Seq2[events.Record, error]

// walk yields the records from position from on, as far as v reaches.
func (u *Union) walk(ctx context.Context, v view, from events.Position, read reading, yield func(events.Record, error) bool) error {
	for from <= v.last {
		if err := ctx.Err(); err != nil {
			return err
		}
		s, to := v.find(from)
		to = min(to, v.last)
		first := s.first + from - s.at
		for r, err := range read(v.bolts[s.log], ctx, first, first+to-from) {
			if err != nil {
				return u.explain(v, s.log, err)
			}
			if !yield(v.moved(s, r), nil) {
				return errEnough
			}
		}
		from = to + 1
	}
	return nil
}

// Stream implements eventlog.Reader. What a machine calls daemon, projects or lost is its own matter: such a stream of
// another log is called as events.StreamID.In says, and the plain name is the own log's. A session's stream is called
// the same in all logs. A session may be in several logs, for example after its agent's files were copied to a second
// machine. Each log then has a part of the stream. Stream yields all parts in the order of the union, of each the records
// from version from on. Versions are those of the part: two records of one stream may have the same.
func (u *Union) Stream(ctx context.Context, stream events.StreamID, from events.Version) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		parts, err := u.parts(ctx, stream)
		v, failed := u.view()
		if err == nil {
			err = failed
		}
		if err != nil {
			finish(err, yield)
			return
		}
		all := make([]iter.Seq2[events.Record, error], len(parts))
		for i, p := range parts {
			all[i] = u.part(ctx, v, p, from)
		}
		merge(all, func(a, b events.Record) bool { return a.Position < b.Position }, yield)
	}
}

// part is what one log has of a stream.
type part struct {
	log     uint32
	stream  events.StreamID // as the log calls it
	version events.Version  // of its last record there
	last    events.Position
}

// parts returns what the logs have of a stream.
func (u *Union) parts(ctx context.Context, stream events.StreamID) (parts []part, err error) {
	v, err := u.view()
	if err != nil {
		return nil, err
	}
	if log, name, foreign := stream.Foreign(); foreign {
		n, known := v.number(log)
		if !known || n == ownNumber || v.bolts[n] == nil {
			return nil, ctx.Err()
		}
		return u.addPart(ctx, v, nil, n, name)
	}
	if parts, err = u.addPart(ctx, v, nil, ownNumber, stream); err != nil {
		return nil, err
	}
	if _, session := stream.Session(); !session {
		return parts, nil
	}
	for n := 1; n < len(v.bolts) && err == nil; n++ {
		if v.bolts[n] != nil {
			parts, err = u.addPart(ctx, v, parts, uint32(n), stream)
		}
	}
	return parts, err
}

// addPart adds what a log has of a stream, if it has any.
func (u *Union) addPart(ctx context.Context, v view, parts []part, log uint32, stream events.StreamID) ([]part, error) {
	version, last, err := v.bolts[log].Head(ctx, stream)
	if err != nil {
		return nil, u.explain(v, log, err)
	}
	if version == 0 {
		return parts, nil
	}
	return append(parts, part{log: log, stream: stream, version: version, last: last}), nil
}

// part yields one log's records of a stream, as far as v reaches.
func (u *Union) part(ctx context.Context, v view, p part, from events.Version) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range v.bolts[p.log].Stream(ctx, p.stream, from) {
			if err != nil {
				yield(events.Record{}, u.explain(v, p.log, err))
				return
			}
			s, at, ok := v.locate(p.log, r.Position)
			if ok && s.log != p.log {
				continue // it is another log's record, and that yields it
			}
			if !ok || at > v.last || !yield(v.moved(s, r), nil) {
				return
			}
		}
	}
}

// Head implements eventlog.Reader. Of a session that is in several logs it is the last record's version in its own log; see Stream.
func (u *Union) Head(ctx context.Context, stream events.StreamID) (version events.Version, last events.Position, err error) {
	parts, err := u.parts(ctx, stream)
	if err != nil {
		return 0, 0, err
	}
	v, err := u.view()
	if err != nil {
		return 0, 0, err
	}
	for _, p := range parts {
		at := v.at(p.log, p.last)
		for at == 0 || at > v.last { // it waits, or is just being committed: the one before may not
			r, err := v.bolts[p.log].Get(ctx, p.last)
			if err != nil {
				return 0, 0, u.explain(v, p.log, err)
			}
			if p.version, p.last = r.Version-1, r.Previous; p.version == 0 {
				break
			}
			at = v.at(p.log, p.last)
		}
		if p.version > 0 && at > last {
			version, last = p.version, at
		}
	}
	return version, last, nil
}

// Last implements eventlog.Reader.
func (u *Union) Last(ctx context.Context) (events.Position, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	v, err := u.view()
	return v.last, err
}

// Reads is how far the logs of others stood before an own record, at its position in the own log: what was known here as it was written. A
// log of which nothing stood there is not among them.
func (u *Union) Reads(at events.Position) (all []events.Place) {
	u.mu.Lock()
	o := u.order
	u.mu.Unlock()
	for n, log := range o.logs {
		if n == ownNumber {
			continue
		}
		if last := o.before(uint32(n), o.at(ownNumber, at)); last > 0 {
			all = append(all, events.Place{Log: log, Position: last})
		}
	}
	return all
}
