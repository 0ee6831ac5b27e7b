package projections

import (
	"context"
	"fmt"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/turn"
)

// AsOf is the row by itself as it stood at the record of a position, which was recorded at a time: superseded by whoever had
// said so last, and flagged as far as its claims had been looked at. One that is forgotten or folded away stays so, and what
// it counts stays counted: Views.RowsAsOf knows of those that say the same.
func (r Row) AsOf(p events.Position, at time.Time) Row {
	r.Checks = slices.DeleteFunc(slices.Clone(r.Checks), func(c Check) bool { return c.At.After(at) })
	r.Flagged = flagged(r)
	r.Stands = slices.DeleteFunc(slices.Clone(r.Stands), func(s Stand) bool { return s.Position > p })
	r.stand()
	return r
}

// stand makes the row's state what the last of its Stands says.
func (r *Row) stand() {
	last := Stand{}
	if n := len(r.Stands); n > 0 {
		last = r.Stands[n-1]
	}
	r.Superseded, r.SupersededBy, r.ByHand = last.By != events.ID{}, last.By, last.ByHand
}

// RowsAsOf is Rows as they stood at the record of a position, which was recorded at a time. Of rows that say the same, those
// count that had been recorded, and the one that led them leads; one that was superseded since stands by itself. What is
// forgotten stays so. Rows recorded later are returned too, as Row.AsOf has them.
func (v *Views) RowsAsOf(ctx context.Context, p events.Position, at time.Time, ids ...events.ID) ([]Row, error) {
	rows := make([]Row, len(ids))
	err := v.Read(ctx, func(btx *bolt.Tx) error {
		books, err := v.books(btx)
		if err != nil {
			return err
		}
		for n, id := range ids {
			row, err := find(books, id)
			if err != nil {
				return err
			}
			if rows[n], err = groupedAsOf(books, row, p, at); err != nil {
				return err
			}
		}
		return nil
	})
	return rows, err
}

// groupedAsOf is Row.AsOf, in the group of those that said the same by then.
func groupedAsOf(books []book, row Row, p events.Position, at time.Time) (Row, error) {
	then := row.AsOf(p, at)
	n := slices.IndexFunc(books, func(b book) bool { return b.kind == row.Kind })
	if n < 0 || row.Position > p || row.Count < 2 && row.FoldedInto == (events.ID{}) {
		return then, nil
	}
	g, ok, err := groupTable().Get(books[n].x, groupKey(row))
	if err != nil || !ok {
		return then, err
	}
	var lead events.ID
	var turns []events.ID
	said, standing := 0, false
	for _, id := range g.Rows {
		one, _, err := rowTable().Get(books[n].x, engine.IDKey(id))
		if err != nil {
			return then, err
		}
		if one.Position > p {
			continue
		}
		if stands := !one.AsOf(p, at).Flagged; said == 0 || stands && !standing {
			lead, standing = id, stands
		}
		said, turns = said+1, withTurn(turns, one.Turn)
	}
	then.FoldedInto, then.Count, then.Turns = events.ID{}, said, turns
	if row.ID != lead {
		then.FoldedInto, then.Count, then.Turns = lead, 0, ownTurn(row)
	}
	return then, nil
}

// AsOf is the turn as it was known at the record of a position: what came of it later is not told.
func (t Turn) AsOf(p events.Position) Turn {
	if t.Started > p {
		return Turn{ID: t.ID, Session: t.Session}
	}
	if t.Ended > p {
		return Turn{
			ID: t.ID, Session: t.Session, Kind: t.Kind, Generation: t.Generation, Provider: t.Provider, Model: t.Model,
			Settles: t.Settles, Reads: t.Reads, PromptBytes: t.PromptBytes, Attempt: t.Attempt, Probe: t.Probe,
			Prompt: t.Prompt, Started: t.Started, StartedAt: t.StartedAt, Result: turn.Running, Instead: t.Instead,
		}
	}
	var rows []events.ID
	var at []events.Position
	for i, known := range t.RowsAt {
		if known <= p {
			rows, at = append(rows, t.Rows[i]), append(at, known)
		}
	}
	t.Rows, t.RowsAt = rows, at
	return t
}

// SessionAsOf is the session of that id as its records up to a position tell it. What other views know of a session, its
// title and its inputs, is not filled in. It reads the session's records. The error is ErrNotFound for a session that had
// none yet.
func (v *Views) SessionAsOf(ctx context.Context, id events.SessionID, p events.Position) (Session, error) {
	var s Session
	for rec, err := range v.log.Stream(ctx, id.Stream(), 1) {
		if err != nil {
			return Session{}, err
		}
		if rec.Position > p {
			break
		}
		if err := s.hear(engine.NewRecord(rec)); err != nil {
			return Session{}, err
		}
	}
	if s.First == 0 {
		return Session{}, fmt.Errorf("%w: session %s", ErrNotFound, id)
	}
	return s, nil
}
