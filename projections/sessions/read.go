package sessions

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/outcomes"
	"github.com/cmemd/cmemd/projections/rows"
)

// Reader answers from the view of sessions. Its methods are safe for concurrent use.
type Reader struct {
	Views *engine.Views
	Log   eventlog.Reader // that the views follow
}

// Session returns the session of that id, with the balance of its inputs. The error is engine.ErrNotFound.
func (v Reader) Session(ctx context.Context, id events.SessionID) (Session, error) {
	var s Session
	err := v.Views.Read(ctx, func(r *engine.ReadTx) {
		x, ok := r.View(View{}.Name()), false
		if s, ok = whole(x, id); !ok {
			x.Fail(fmt.Errorf("%w: session %s", engine.ErrNotFound, id))
			return
		}
		s.complete(r)
	})
	return s, err
}

// complete fills in what other views know of a session.
func (s *Session) complete(r *engine.ReadTx) {
	s.Inputs = outcomes.BalanceIn(r, s.ID)
	s.Pending = s.Inputs.Pending
	s.Title = rows.Title(r, s.ID)
}

// Sessions returns the chosen sessions, the one with the latest captured event first.
func (v Reader) Sessions(ctx context.Context, f Filter) ([]Session, error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	var sessions []Session
	from := bytes.Repeat([]byte{0xff}, 25)
	for from != nil {
		err := v.Views.Read(ctx, func(r *engine.ReadTx) {
			x, was := r.View(View{}.Name()), from
			sessions, from = f.some(r, x, from, sessions)
			if from != nil && bytes.Compare(from, was) >= 0 {
				x.Fail(engine.Damaged("keys of sessions are out of order"))
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return sessions, nil
}

// some goes on from a key, backwards, and returns where the next transaction goes on; nil at the end.
func (f Filter) some(r *engine.ReadTx, x *engine.Tx, from []byte, found []Session) ([]Session, []byte) {
	n := 0
	for activity := range timeTable().Before(x, nil, from) {
		if len(found) == f.Limit {
			return found, nil
		}
		if n++; n > engine.ReadSlice {
			return found, from
		}
		id := activityID(activity)
		s, ok := whole(x, id)
		if !ok {
			x.Fail(engine.Damaged("session %x is in an index alone", id))
		}
		if len(s.Parts) > 0 && !bytes.Equal(activity, activityKey(s)) { // the part that was heard of last comes where it stands
			from = bytes.Clone(activity)
			continue
		}
		if s.LastAt.Before(f.Since) {
			return found, nil
		}
		if f.admits(s) {
			s.complete(r)
			found = append(found, s)
		}
		from = bytes.Clone(activity)
	}
	return found, nil
}

func (f Filter) admits(s Session) bool {
	return (f.Agent == "" || s.Agent == f.Agent) && (!f.OpenOnly || s.Open()) && (f.Match == nil || f.Match(s))
}

// ResolveSession returns the ids of sessions that begin with prefix, hex digits with or without hyphens, in order, at most
// limit of them. No match is no error, and neither is text that no id can begin with.
func (v Reader) ResolveSession(ctx context.Context, prefix string, limit int) ([]events.SessionID, error) {
	start, ok := engine.ParseIDPrefix(prefix)
	if !ok {
		return nil, nil
	}
	var ids []events.SessionID
	err := v.Views.View(ctx, View{}.Name(), func(x *engine.Tx) {
		for _, id := range start.Find(x, table().Name, limit) {
			ids = append(ids, events.SessionID(id))
		}
	})
	return ids, err
}

// Owing returns the sessions in which something is left to be done: that are not closed, or have inputs that await an
// outcome or are to be observed again, because a person asked or because their sessions ask once more by themselves. A
// daemon wakes them at its start, after CatchUp.
func (v Reader) Owing(ctx context.Context) ([]events.SessionID, error) {
	var ids []events.SessionID
	err := v.Views.Read(ctx, func(r *engine.ReadTx) {
		for _, from := range []struct {
			view  string
			table engine.Table[engine.Member]
		}{{View{}.Name(), openSessionTable()}, {outcomes.View{}.Name(), outcomes.OwingTable()}} {
			x := r.View(from.view)
			for k := range from.table.From(x, nil, nil) {
				if len(k) != len(events.SessionID{}) {
					x.Fail(engine.Damaged("session %x", k))
					break
				}
				ids = append(ids, events.SessionID(k))
			}
		}
	})
	slices.SortFunc(ids, func(a, b events.SessionID) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(ids), err
}

// SessionAsOf is the session of that id as its records up to a position have it. What other views know of a session, its
// title and its inputs, is not filled in. It reads the session's records. The error is engine.ErrNotFound for a session that had
// none yet.
func (v Reader) SessionAsOf(ctx context.Context, id events.SessionID, p events.Position) (Session, error) {
	origin, err := v.Views.Origin(ctx)
	if err != nil {
		return Session{}, err
	}
	parts := map[events.LogID]*Session{}
	for rec, err := range v.Log.Stream(ctx, id.Stream(), 1) {
		if err != nil {
			return Session{}, err
		}
		if rec.Position > p {
			break
		}
		r := origin.NewRecord(rec)
		if parts[r.Home.Log] == nil {
			parts[r.Home.Log] = &Session{}
		}
		parts[r.Home.Log].evolve(&r)
		if err := r.Err(); err != nil && !origin.Foreign(r.Home.Log) {
			return Session{}, err
		}
	}
	if len(parts) == 0 {
		return Session{}, fmt.Errorf("%w: session %s", engine.ErrNotFound, id)
	}
	var all []Session
	for _, part := range parts {
		all = append(all, *part)
	}
	return joined(all), nil
}
