package turn

import (
	"context"
	"fmt"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// Reader answers from the view of turns. Its methods are safe for concurrent use.
type Reader struct{ Views *engine.Views }

// Turn returns the turn of that id. The error is engine.ErrNotFound.
func (v Reader) Turn(ctx context.Context, id events.ID) (Turn, error) {
	var t Turn
	err := v.Views.View(ctx, View{}.Name(), func(x *engine.Tx) {
		var ok bool
		if t, ok = table().Get(x, engine.IDKey(id)); !ok {
			x.Fail(fmt.Errorf("%w: turn %s", engine.ErrNotFound, id))
		}
	})
	return t, err
}

// LatestTurns returns the turns that match chooses (nil: all), the latest first by their ids, which are made when a turn
// begins: at most limit of them, among the latest scanned of all.
func (v Reader) LatestTurns(ctx context.Context, limit, scanned int, match func(Turn) bool) ([]Turn, error) {
	var turns []Turn
	err := v.Views.View(ctx, View{}.Name(), func(x *engine.Tx) {
		for _, t := range table().Before(x, nil, nil) {
			if scanned <= 0 || len(turns) >= limit {
				return
			}
			scanned--
			if match == nil || match(t) {
				turns = append(turns, t)
			}
		}
	})
	return turns, err
}

// ResolveTurn returns the ids of turns that begin with prefix, hex digits with or without hyphens, in order, at most limit
// of them. No match is no error, and neither is text that no id can begin with.
func (v Reader) ResolveTurn(ctx context.Context, prefix string, limit int) ([]events.ID, error) {
	start, ok := engine.ParseIDPrefix(prefix)
	if !ok {
		return nil, nil
	}
	var ids []events.ID
	err := v.Views.View(ctx, View{}.Name(), func(x *engine.Tx) { ids = start.Find(x, table().Name, limit) })
	return ids, err
}

// AsOf is the turn as it was known at the record of a position: what came of it later is left out.
func (t Turn) AsOf(p events.Position) Turn {
	if t.Started > p {
		return Turn{ID: t.ID, Session: t.Session, Log: t.Log}
	}
	if t.Ended > p {
		return Turn{
			ID: t.ID, Session: t.Session, Kind: t.Kind, Generation: t.Generation, Provider: t.Provider, Model: t.Model,
			Settles: t.Settles, Reads: t.Reads, PromptBytes: t.PromptBytes, Attempt: t.Attempt, Probe: t.Probe,
			Prompt: t.Prompt, Started: t.Started, StartedAt: t.StartedAt, Result: Running, Instead: t.Instead, Log: t.Log,
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
