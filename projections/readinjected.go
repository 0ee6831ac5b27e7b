package projections

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// InjectionsOf returns where a row was given to an agent, the earliest first, at most limit of them (0 means 100), and how
// many there are. It looks through all injections there are: one a session's start, about a microsecond each.
func (v InjectionReader) InjectionsOf(ctx context.Context, id events.ID, limit int) (list []Injection, total int, err error) {
	if limit <= 0 {
		limit = 100
	}
	var from []byte
	for done := false; !done && err == nil; {
		err = v.View(ctx, injectionView{}.Name(), func(x *engine.Tx) error {
			b, err := injectionTable().In(x)
			if err != nil {
				return err
			}
			c := b.Cursor()
			k, raw := c.Seek(from)
			for n := 0; k != nil && n < engine.ReadSlice; n++ {
				var i Injection
				if err := x.Decode(raw, &i); err != nil {
					return engine.Damaged("injection at %s: %v", engine.ShowPlace(k), err)
				}
				if slices.Contains(i.IDs, id) {
					list = append(list, i)
				}
				k, raw = c.Next()
			}
			done, from = k == nil, slices.Clone(k)
			return nil
		})
	}
	slices.SortFunc(list, func(a, b Injection) int { return cmp.Compare(a.Position, b.Position) })
	return list[:min(len(list), limit)], len(list), err
}

// InjectionsBefore returns what a session was given before a position (0: ever), the latest first, at most limit of
// them (0 means 100).
func (v InjectionReader) InjectionsBefore(ctx context.Context, session events.SessionID, at events.Position, limit int) ([]Injection, error) {
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
		for k, raw := engine.SeekBefore(c, engine.PlaceKey(session, at)); bytes.HasPrefix(k, session[:]) && len(list) < limit; k, raw = c.Prev() {
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
