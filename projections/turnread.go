package projections

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// InjectionsBefore returns what a session was given before a position (0: ever), the latest first, at most limit of
// them (0 means 100).
func (v *Views) InjectionsBefore(ctx context.Context, session events.SessionID, at events.Position, limit int) ([]Injection, error) {
	if limit <= 0 {
		limit = 100
	}
	if at == 0 {
		at--
	}
	var list []Injection
	err := v.View(ctx, injectionView{}.Name(), func(x *engine.Tx) error {
		b, err := injectionTable().In(x)
		if err != nil {
			return err
		}
		c := b.Cursor()
		k, _ := c.Seek(engine.PlaceKey(session, at))
		k, raw := before(c, k)
		for ; bytes.HasPrefix(k, session[:]) && len(list) < limit; k, raw = c.Prev() {
			var i Injection
			if err := x.Decode(raw, &i); err != nil {
				return engine.Damaged("injection at %s: %v", engine.ShowPlace(k), err)
			}
			list = append(list, i)
		}
		return nil
	})
	return list, err
}

// Turn returns the turn of that id. The error is ErrNotFound.
func (v *Views) Turn(ctx context.Context, id events.ID) (Turn, error) {
	var t Turn
	err := v.View(ctx, turnView{}.Name(), func(x *engine.Tx) error {
		var ok bool
		var err error
		if t, ok, err = turnTable().Get(x, engine.IDKey(id)); err == nil && !ok {
			err = fmt.Errorf("%w: turn %s", ErrNotFound, id)
		}
		return err
	})
	return t, err
}

// TurnsOf returns the turns that led to a row: its own first, then those of the rows folded into it. Turns that the
// log does not hold are left out. The error is ErrNotFound for an unknown row.
func (v *Views) TurnsOf(ctx context.Context, row events.ID) ([]Turn, error) {
	r, err := v.Row(ctx, row)
	if err != nil {
		return nil, err
	}
	var turns []Turn
	for _, id := range r.Turns {
		t, err := v.Turn(ctx, id)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		turns = append(turns, t)
	}
	return turns, nil
}

// LatestTurns returns the turns that match chooses (nil: all), the latest first by their ids, which are made when a turn
// begins: at most limit of them, and none beyond the latest looked at of any.
func (v *Views) LatestTurns(ctx context.Context, limit, looked int, match func(Turn) bool) ([]Turn, error) {
	var turns []Turn
	err := v.View(ctx, turnView{}.Name(), func(x *engine.Tx) error {
		turns = nil
		b, err := turnTable().In(x)
		if err != nil {
			return err
		}
		c := b.Cursor()
		for k, raw := c.Last(); k != nil && looked > 0 && len(turns) < limit; k, raw = c.Prev() {
			looked--
			var t Turn
			if err := x.Decode(raw, &t); err != nil {
				return engine.Damaged("turn %x: %v", k, err)
			}
			if match == nil || match(t) {
				turns = append(turns, t)
			}
		}
		return nil
	})
	return turns, err
}

// ResolveTurn returns the ids of turns that begin with prefix, hex digits with or without hyphens, in order, at most limit
// of them. No match is no error, and neither is text that no id can begin with.
func (v *Views) ResolveTurn(ctx context.Context, prefix string, limit int) ([]events.ID, error) {
	digits, whole, ok := hexPrefix(prefix)
	if !ok {
		return nil, nil
	}
	var ids []events.ID
	err := v.View(ctx, turnView{}.Name(), func(x *engine.Tx) error {
		ids = withPrefix(x.Table(turnTable().Name), whole, digits, limit)
		return nil
	})
	return ids, err
}
