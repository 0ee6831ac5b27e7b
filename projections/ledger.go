package projections

import (
	"context"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// Ledger is what the view of outcomes has counted up to one position.
type Ledger struct {
	Position events.Position
	All      Balance
	Sessions map[events.SessionID]Balance // every session that has inputs
}

// Ledger returns the balances of all sessions as they stand at one position, for whoever counts again.
func (v OutcomeReader) Ledger(ctx context.Context) (Ledger, error) {
	var l Ledger
	err := v.View(ctx, outcomeView{}.Name(), func(x *engine.Tx) error {
		l = Ledger{Position: x.Checkpoint, Sessions: map[events.SessionID]Balance{}}
		return l.read(x)
	})
	return l, err
}

func (l *Ledger) read(x *engine.Tx) error {
	t, err := balanceTable().In(x)
	if err != nil {
		return err
	}
	return t.ForEach(func(k, raw []byte) error {
		var b balance
		if err := x.Decode(raw, &b); err != nil || len(k) != len(events.SessionID{}) {
			return engine.Damaged("balance %x: %v", k, err)
		}
		if id := events.SessionID(k); !id.IsZero() {
			l.Sessions[id] = b.public()
			return nil
		}
		l.All = b.public()
		return nil
	})
}
