package injections

import (
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// View keeps what each agent was given, and when. It holds ids, never words.
type View struct{}

func (View) Name() string       { return "injections" }
func (View) Version() int       { return 1 }
func (View) SkipsUnknown() bool { return true }

func table() engine.Table[Injection] { return engine.Table[Injection]{Name: "rows"} }

func (View) Tables() []engine.TableSpec {
	return []engine.TableSpec{table().Spec(engine.ShowPlace)}
}

// Injection is memory that an agent was given.
type Injection struct {
	Session    events.SessionID `cbor:"1,keyasint,omitzero" json:"session"`
	Position   events.Position  `cbor:"2,keyasint,omitempty" json:"position"`
	At         time.Time        `cbor:"3,keyasint,omitzero" json:"at"`
	Hook       string           `cbor:"4,keyasint,omitempty" json:"hook"`
	IDs        []events.ID      `cbor:"5,keyasint,omitempty" json:"ids,omitempty"`
	Characters int              `cbor:"6,keyasint,omitempty" json:"characters"`
	Knew       events.Position  `cbor:"7,keyasint,omitempty" json:"knew,omitempty"` // position of the views it was chosen from
}

type fold struct{ x *engine.Tx }

func (View) Fold(x *engine.Tx) engine.Fold { return fold{x} }

func (f fold) Apply(r *engine.Record) {
	if r.Kind != events.KindContextInjected {
		return
	}
	e, ok := engine.PayloadOf[events.ContextInjected](r)
	if !ok {
		return
	}
	table().Put(f.x, engine.PlaceKey(r.Session, r.Position), Injection{
		Session: r.Session, Position: r.Position, At: r.OccurredAt, Hook: e.Hook, IDs: e.IDs, Characters: e.Characters,
		Knew: events.Position(e.Position),
	})
}

func (fold) Flush() {}
