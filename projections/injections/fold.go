package injections

import (
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// View keeps what each agent was given, and when. It holds ids, never words.
type View struct{}

func (View) Name() string        { return "injections" }
func (View) Reads() engine.Reads { return engine.Reads{SkipsUnknown: true, Others: true} }

func table() engine.Table[Injection] { return engine.Table[Injection]{Name: "rows"} }

func (View) Layout() engine.Layout {
	return engine.Layout{Version: 2, Tables: []engine.TableSpec{table().Spec(engine.ShowPlace), askedTable().Spec(engine.ShowPlace)}}
}

// askedTable has what sessions asked memory for, by session and position.
func askedTable() engine.Table[Asked] { return engine.Table[Asked]{Name: "asked"} }

// Asked is one call of memory's own tools by which an agent asked for rows.
type Asked struct {
	Position events.Position `cbor:"1,keyasint,omitempty" json:"position"`
	Named    []string        `cbor:"2,keyasint,omitempty" json:"named"` // as events.ToolUsed has them
}

// Names reports whether the call asks for the row of an id, which has a handle.
func (a Asked) Names(id events.ID, handle string) bool {
	digits := strings.ReplaceAll(id.String(), "-", "")
	return slices.ContainsFunc(a.Named, func(name string) bool {
		return name == handle || strings.HasPrefix(digits, strings.ReplaceAll(name, "-", ""))
	})
}

// Injection is memory that an agent was given.
type Injection struct {
	Session    events.SessionID `cbor:"1,keyasint,omitzero" json:"session"`
	Position   events.Position  `cbor:"2,keyasint,omitempty" json:"position"`
	At         time.Time        `cbor:"3,keyasint,omitzero" json:"at"`
	Hook       string           `cbor:"4,keyasint,omitempty" json:"hook"`
	IDs        []events.ID      `cbor:"5,keyasint,omitempty" json:"ids,omitempty"`
	Characters int              `cbor:"6,keyasint,omitempty" json:"characters"`
	Log        events.LogID     `cbor:"8,keyasint,omitzero" json:"log,omitzero"`    // whose record it is; zero: there is one log
	Knew       events.Position  `cbor:"7,keyasint,omitempty" json:"knew,omitempty"` // position of the views it was chosen from
}

type fold struct{ x *engine.Tx }

func (View) Fold(x *engine.Tx) func(*engine.Record) { return fold{x}.apply }

func (f fold) apply(r *engine.Record) {
	switch {
	case r.Kind == events.KindContextInjected:
		engine.Handle(r, f.given)
	case r.Kind == events.KindToolUsed && r.Unobserved:
		engine.Handle(r, f.asked)
	case r.Kind == events.KindMemoryForgotten:
		for h := range engine.ForgottenRecords(f.x, r) {
			if session, ok := h.Stream.Session(); ok {
				askedTable().Delete(f.x, engine.PlaceKey(session, h.Position))
			}
		}
	}
}

func (f fold) given(r *engine.Record, e events.ContextInjected) {
	table().Put(f.x, engine.PlaceKey(r.Session, r.Position), Injection{
		Session: r.Session, Position: r.Position, At: r.OccurredAt, Hook: e.Hook, IDs: e.IDs, Characters: e.Characters,
		Knew: events.Position(e.Position), Log: r.Home.Log,
	})
}

func (f fold) asked(r *engine.Record, e events.ToolUsed) {
	if len(e.Named) > 0 && !e.Failed {
		askedTable().Put(f.x, engine.PlaceKey(r.Session, r.Position), Asked{Position: r.Position, Named: e.Named})
	}
}
