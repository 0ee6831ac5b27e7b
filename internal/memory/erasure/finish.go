package erasure

import (
	"context"
	"errors"
	"slices"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// finish carries out what is noted as wanted, erases what MemoryForgotten names and is not erased, with what was made of it,
// and has the files made anew if that was owed.
func (e *Eraser) finish(ctx context.Context) error {
	if err := e.busy.Acquire(ctx, 1); err != nil {
		return err
	}
	defer e.busy.Release(1)
	return errors.Join(e.sendOwed(ctx), e.finishOwn(ctx))
}

// finishOwn is finish without what others are to be notified of.
func (e *Eraser) finishOwn(ctx context.Context) error {
	s := e.state.get()
	at, left, refused := e.resume(ctx, s)
	last, found, err := e.findUnerased(ctx, s)
	if err != nil || last.Position == 0 {
		return err
	}
	late, more, err := e.madeSince(ctx, found)
	if err != nil {
		return err
	}
	gone := slices.Concat(found.positions, more)
	if len(gone) == 0 && !s.Owed {
		return errors.Join(e.state.markClean(left, &last), refused)
	}
	e.cfg.Logger.Info("finishing what was being forgotten", "records", len(gone))
	if err := e.state.change(func(s *state) { s.Owed = true }); err != nil {
		return err
	}
	if err := e.clear(ctx, gone, max(at, late, last.Position), func(int) {}); err != nil {
		return err
	}
	return errors.Join(e.state.markClean(left, &last), refused)
}

// resume records what is noted as wanted and not forgotten yet. What a session refuses is left for later; err says why.
func (e *Eraser) resume(ctx context.Context, s state) (at events.Position, left []pending, err error) {
	var errs []error
	for _, p := range s.Pending {
		made, err := e.resumeOne(ctx, p)
		if at = max(at, made); err != nil {
			left, errs = append(left, p), append(errs, err)
		}
	}
	return at, left, errors.Join(errs...)
}

func (e *Eraser) resumeOne(ctx context.Context, p pending) (at events.Position, err error) {
	left := pending{Stream: p.Stream}
	for _, pos := range p.Positions {
		r, err := e.cfg.Log.Get(ctx, pos)
		if errors.Is(err, eventlog.ErrNotFound) || err == nil && r.Stream != p.Stream {
			continue // another log
		}
		if err != nil {
			return 0, err
		}
		if erasable(r) {
			left.Positions = append(left.Positions, pos)
		}
	}
	if len(left.Positions) > 0 {
		at, _, err = e.forget(ctx, left)
	}
	return at, err
}

// unerased is what the log says is forgotten and still holds.
type unerased struct {
	positions []events.Position
	byPerson  map[events.StreamID]set // by a person; empty where there only are later looks, which may be at what is forgotten
}

func (l unerased) of(stream events.StreamID) set {
	if l.byPerson[stream] == nil {
		l.byPerson[stream] = set{}
	}
	return l.byPerson[stream]
}

// findUnerased reads what is forgotten behind what was looked at before. last is the last own record that was read, or what was
// looked at before.
func (e *Eraser) findUnerased(ctx context.Context, s state) (last events.Record, out unerased, err error) {
	out.byPerson = map[events.StreamID]set{}
	last, err = e.scanned(ctx, s)
	if err != nil {
		return last, out, err
	}
	from, known := last.Position+1, last.Position
	if !s.ChecksScanned {
		from = 1
	}
	for r, err := range e.cfg.Log.All(ctx, from) {
		if err != nil {
			return last, out, err
		}
		if !r.Place().Log.IsZero() { // another machine's to finish, and none that the state can name
			continue
		}
		last = events.Record{Header: r.Header, Chain: r.Chain}
		switch {
		case r.Kind == events.KindClaimChecked && !r.Erased:
			out.of(r.Stream)
		case r.Kind == events.KindMemoryForgotten && r.Position > known:
			if err := e.leftBy(ctx, r, &out); err != nil {
				return last, out, err
			}
		}
	}
	slices.Sort(out.positions)
	out.positions = slices.Compact(out.positions)
	return last, out, nil
}

// scanned is the record up to which the log was looked at; zero: none of this log.
func (e *Eraser) scanned(ctx context.Context, s state) (events.Record, error) {
	if s.Scanned == 0 {
		return events.Record{}, nil
	}
	r, err := e.cfg.Log.Get(ctx, s.Scanned)
	if errors.Is(err, eventlog.ErrNotFound) || err == nil && r.Chain != s.Chain {
		return events.Record{}, nil
	}
	return r, err
}

func (e *Eraser) leftBy(ctx context.Context, r events.Record, out *unerased) error {
	says, err := said(r)
	if err != nil {
		return err
	}
	m, _ := says.(events.MemoryForgotten)
	for _, p := range m.Positions {
		named, err := e.cfg.Log.Get(ctx, p)
		if errors.Is(err, eventlog.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if m.Cause != CauseRetention && named.Stream == r.Stream {
			out.of(r.Stream)[p] = true
		}
		if erasable(named) {
			out.positions = append(out.positions, p)
		}
	}
	return nil
}

// madeSince forgets what was made of what is forgotten, and that nobody got to, later looks among it.
func (e *Eraser) madeSince(ctx context.Context, found unerased) (at events.Position, gone []events.Position, err error) {
	for stream, named := range found.byPerson {
		g, err := readGraph(ctx, e.cfg.Log, stream)
		if err != nil {
			return at, gone, err
		}
		made := e.onlyOwn(g.made(named))
		if len(made) == 0 {
			continue
		}
		p, more, err := e.forget(ctx, pending{Stream: stream, Positions: made})
		at, gone = max(at, p), append(gone, more...)
		if err != nil {
			return at, gone, err
		}
	}
	return at, gone, nil
}
