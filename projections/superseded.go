package projections

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// Replacements returns the rows that the one of that id took the place of, and those that took its own, because their
// turns were asked about the same inputs again: each oldest first, by position. Rows of a turn that was replaced only in
// part still stand, and are in neither. The error is engine.ErrNotFound for an unknown row.
func (v RowReader) Replacements(ctx context.Context, id events.ID) (older, newer []Row, err error) {
	err = v.Read(ctx, func(btx *bolt.Tx) error {
		books, err := v.books(btx)
		if err != nil {
			return err
		}
		row, err := find(books, id)
		if err != nil {
			return err
		}
		if row.Kind == "" && !row.Forgotten {
			return fmt.Errorf("%w: row %s", engine.ErrNotFound, id)
		}
		older, newer, err = replacements(books, row)
		return err
	})
	return older, newer, err
}

func replacements(books []book, row Row) (older, newer []Row, err error) {
	if row.Turn == (events.ID{}) {
		return nil, nil, nil
	}
	for _, b := range books {
		if b.kind != Observation && b.kind != Summary {
			continue
		}
		before, after, err := b.around(row.Turn)
		if err != nil {
			return nil, nil, err
		}
		if older, err = b.ofTurns(older, before, true); err != nil {
			return nil, nil, err
		}
		if !row.Superseded {
			continue
		}
		if newer, err = b.ofTurns(newer, after, false); err != nil {
			return nil, nil, err
		}
	}
	byPosition := func(a, b Row) int { return cmp.Compare(a.Position, b.Position) }
	slices.SortFunc(older, byPosition)
	slices.SortFunc(newer, byPosition)
	return older, newer, nil
}

// around returns the other turns that kept some of a turn's inputs, before it and after it.
func (b book) around(id events.ID) (before, after []events.ID, err error) {
	turn, ok, err := rowTurnTable().Get(b.x, engine.IDKey(id))
	if err != nil || !ok {
		return nil, nil, err
	}
	for _, p := range turn.Settles {
		in, _, err := rowInputTable().Get(b.x, engine.PositionKey(p))
		if err != nil {
			return nil, nil, err
		}
		own := slices.Index(in.Turns, id)
		for n, other := range in.Turns {
			switch {
			case n < own && !slices.Contains(before, other):
				before = append(before, other)
			case n > own && own >= 0 && !slices.Contains(after, other):
				after = append(after, other)
			}
		}
	}
	return before, after, nil
}

// ofTurns adds the rows of turns; with replaced only those of turns that were.
func (b book) ofTurns(rows []Row, turns []events.ID, replaced bool) ([]Row, error) {
	for _, id := range turns {
		turn, ok, err := rowTurnTable().Get(b.x, engine.IDKey(id))
		if err != nil {
			return nil, err
		}
		if !ok || replaced && !turn.Replaced {
			continue
		}
		for _, id := range turn.Rows {
			row, ok, err := rowTable().Get(b.x, engine.IDKey(id))
			if err != nil {
				return nil, err
			}
			if ok {
				rows = append(rows, row)
			}
		}
	}
	return rows, nil
}
