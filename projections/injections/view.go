package injections

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/order"
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

// Injected is what a session's conversation still holds of the memory that it was given.
type Injected struct {
	IDs  map[events.ID]bool // rows, since the conversation was emptied last
	Knew events.Position    // what the latest choice at a start of the session knew; 0: there was none
}

// maxGiven is how many injections of a session are read.
const maxGiven = 1000

// Reader answers from the view of injections. Its methods are safe for concurrent use.
type Reader struct{ Views *engine.Views }

// Injected returns what a session was given since its conversation began, was cleared or was compacted.
func (v Reader) Injected(ctx context.Context, session events.SessionID) (Injected, error) {
	g := Injected{IDs: map[events.ID]bool{}}
	err := v.Views.View(ctx, View{}.Name(), func(x *engine.Tx) {
		n := 0
		for _, i := range table().Before(x, session[:], engine.PlaceKey(session, ^events.Position(0))) {
			if n++; n > maxGiven || g.take(i) {
				return
			}
		}
	})
	return g, err
}

// take adds an injection, the later ones being known; it reports whether the conversation held nothing before it.
func (g *Injected) take(i Injection) (emptied bool) {
	for _, id := range i.IDs {
		g.IDs[id] = true
	}
	switch i.Hook {
	case "prompt", "file":
		return false
	}
	g.Knew = max(g.Knew, i.Knew)
	return i.Hook == "startup" || i.Hook == "clear" || i.Hook == "compact"
}

// InjectionsOf returns where a row was given to an agent, the earliest first, at most limit of them, and how many
// there are. It reads all injections there are: one a session's start, about a microsecond each.
func (v Reader) InjectionsOf(ctx context.Context, id events.ID, limit int) (list []Injection, total int, err error) {
	var from []byte
	for done := false; !done && err == nil; {
		err = v.Views.View(ctx, View{}.Name(), func(x *engine.Tx) {
			n := 0
			for k, i := range table().From(x, nil, from) {
				if n++; n > engine.ReadSlice {
					from = slices.Clone(k)
					return
				}
				if slices.Contains(i.IDs, id) {
					list = append(list, i)
				}
			}
			done = true
		})
	}
	order.By(list, func(a, b Injection) int { return cmp.Compare(a.Position, b.Position) })
	return list[:min(len(list), limit)], len(list), err
}

// InjectionsBefore returns what a session was given before a position (0: ever), the latest first, at most limit of
// them.
func (v Reader) InjectionsBefore(ctx context.Context, session events.SessionID, at events.Position, limit int) ([]Injection, error) {
	if at == 0 {
		at--
	}
	var list []Injection
	err := v.Views.View(ctx, View{}.Name(), func(x *engine.Tx) {
		for _, i := range table().Before(x, session[:], engine.PlaceKey(session, at)) {
			if len(list) == limit {
				return
			}
			list = append(list, i)
		}
	})
	return list, err
}

// AskedBy returns the calls by which a session asked for rows of memory, the latest first, at most limit of them.
func (v Reader) AskedBy(ctx context.Context, session events.SessionID, limit int) (list []Asked, err error) {
	err = v.Views.View(ctx, View{}.Name(), func(x *engine.Tx) {
		for _, a := range askedTable().Before(x, session[:], engine.PlaceKey(session, ^events.Position(0))) {
			if len(list) == limit {
				return
			}
			list = append(list, a)
		}
	})
	return list, err
}
