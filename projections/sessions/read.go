package sessions

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/outcomes"
	"github.com/cmemd/cmemd/projections/rows"
)

// Reader answers from the view of sessions. Its methods are safe for concurrent use.
type Reader struct {
	*engine.Views
	Log eventlog.Log // that the views follow
}

// Session returns the session of that id, with the balance of its inputs. The error is engine.ErrNotFound.
func (v Reader) Session(ctx context.Context, id events.SessionID) (Session, error) {
	var s Session
	err := v.Read(ctx, func(btx *bolt.Tx) error {
		x, err := v.LiveTx(btx, View{}.Name())
		if err != nil {
			return err
		}
		var ok bool
		if s, ok, err = table().Get(x, engine.SessionKey(id)); err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("%w: session %s", engine.ErrNotFound, id)
		}
		return v.complete(btx, &s)
	})
	return s, err
}

// complete fills in what other views know of a session.
func (v Reader) complete(btx *bolt.Tx, s *Session) error {
	var err error
	if s.Inputs, err = outcomes.BalanceIn(v.Views, btx, s.ID); err != nil {
		return err
	}
	s.Pending = s.Inputs.Pending
	s.Title, err = rows.Title(v.Views, btx, s.ID)
	return err
}

// Sessions returns the chosen sessions, the one with the latest captured event first.
func (v Reader) Sessions(ctx context.Context, f Filter) ([]Session, error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	var sessions []Session
	from := bytes.Repeat([]byte{0xff}, 25)
	for from != nil {
		err := v.Read(ctx, func(btx *bolt.Tx) (err error) {
			was := from
			sessions, from, err = v.someSessions(btx, f, from, sessions)
			if from != nil && bytes.Compare(from, was) >= 0 {
				return engine.Damaged("keys of sessions are out of order")
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return sessions, nil
}

// someSessions goes on from a key, backwards, and returns where the next transaction goes on; nil at the end.
func (v Reader) someSessions(btx *bolt.Tx, f Filter, from []byte, found []Session) ([]Session, []byte, error) {
	x, err := v.LiveTx(btx, View{}.Name())
	if err != nil {
		return nil, nil, err
	}
	n := 0
	for activity, err := range timeTable().Before(x, nil, from) {
		if err != nil || len(found) == f.Limit {
			return found, nil, err
		}
		if n++; n > engine.ReadSlice {
			return found, from, nil
		}
		id := activityID(activity.Key)
		s, ok, err := table().Get(x, id[:])
		if err != nil || !ok {
			return nil, nil, errors.Join(err, engine.Damaged("session %x is in an index alone", id))
		}
		if s.LastAt.Before(f.Since) {
			return found, nil, nil
		}
		if f.admits(s) {
			if err := v.complete(btx, &s); err != nil {
				return nil, nil, err
			}
			found = append(found, s)
		}
		from = bytes.Clone(activity.Key)
	}
	return found, nil, nil
}

func (f Filter) admits(s Session) bool {
	return (f.ProjectRoot == "" || s.ProjectRoot == f.ProjectRoot) && (f.Agent == "" || s.Agent == f.Agent) &&
		(!f.OpenOnly || s.Open()) && (f.Match == nil || f.Match(s))
}

// ResolveSession returns the ids of sessions that begin with prefix, hex digits with or without hyphens, in order, at most
// limit of them (0 means 10). No match is no error, and neither is text that no id can begin with.
func (v Reader) ResolveSession(ctx context.Context, prefix string, limit int) ([]events.SessionID, error) {
	if limit <= 0 {
		limit = 10
	}
	start, ok := engine.ParseIDPrefix(prefix)
	if !ok {
		return nil, nil
	}
	var ids []events.SessionID
	err := v.View(ctx, View{}.Name(), func(x *engine.Tx) error {
		ids = nil
		for _, id := range start.Find(x, table().Name, limit) {
			ids = append(ids, events.SessionID(id))
		}
		return nil
	})
	return ids, err
}

// Owing returns the sessions in which something is left to be done: that are not closed, or have inputs that await an
// outcome or are to be observed again, because a person asked or because their sessions ask once more by themselves. A
// daemon wakes them at its start, after CatchUp.
func (v Reader) Owing(ctx context.Context) ([]events.SessionID, error) {
	var ids []events.SessionID
	err := v.Read(ctx, func(btx *bolt.Tx) error {
		for _, from := range []struct {
			view  string
			table engine.Table[engine.Member]
		}{{View{}.Name(), openTable()}, {outcomes.View{}.Name(), outcomes.OwingTable()}} {
			x, err := v.LiveTx(btx, from.view)
			if err != nil {
				return err
			}
			for one, err := range from.table.From(x, nil, nil) {
				if err != nil || len(one.Key) != len(events.SessionID{}) {
					return cmp.Or(err, engine.Damaged("session %x", one.Key))
				}
				ids = append(ids, events.SessionID(one.Key))
			}
		}
		return nil
	})
	slices.SortFunc(ids, func(a, b events.SessionID) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(ids), err
}

// SessionAsOf is the session of that id as its records up to a position have it. What other views know of a session, its
// title and its inputs, is not filled in. It reads the session's records. The error is engine.ErrNotFound for a session that had
// none yet.
func (v Reader) SessionAsOf(ctx context.Context, id events.SessionID, p events.Position) (Session, error) {
	var s Session
	for rec, err := range v.Log.Stream(ctx, id.Stream(), 1) {
		if err != nil {
			return Session{}, err
		}
		if rec.Position > p {
			break
		}
		if err := s.evolve(engine.NewRecord(rec)); err != nil {
			return Session{}, err
		}
	}
	if s.First == 0 {
		return Session{}, fmt.Errorf("%w: session %s", engine.ErrNotFound, id)
	}
	return s, nil
}
