package projections

import (
	"bytes"
	"context"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// injectionView keeps what each agent was given, and when. It holds ids, never words.
type injectionView struct{}

func (injectionView) Name() string       { return "injections" }
func (injectionView) Version() int       { return 1 }
func (injectionView) SkipsUnknown() bool { return true }

func injectionTable() engine.Table[Injection] { return engine.Table[Injection]{Name: "rows"} }

func (injectionView) Tables() []engine.TableSpec {
	return []engine.TableSpec{injectionTable().Spec(engine.ShowPlace)}
}

type injectionFold struct{ x *engine.Tx }

func (injectionView) Fold(x *engine.Tx) engine.Fold { return injectionFold{x} }

func (f injectionFold) Apply(r *engine.Record) error {
	if r.Kind != events.KindContextInjected {
		return nil
	}
	e, ok, err := engine.PayloadOf[events.ContextInjected](r)
	if err != nil || !ok {
		return err
	}
	return injectionTable().Put(f.x, engine.PlaceKey(r.Session, r.Position), Injection{
		Session: r.Session, Position: r.Position, At: r.OccurredAt, Hook: e.Hook, IDs: e.IDs, Characters: e.Characters,
		Knew: events.Position(e.Position),
	})
}

func (injectionFold) Flush() error { return nil }

// Given is what a session's conversation still holds of the memory that it was given.
type Given struct {
	IDs  map[events.ID]bool // rows, since the conversation was emptied last
	Knew events.Position    // what the latest choice at a start of the session knew; 0: there was none
}

// maxGiven is how many injections of a session are looked at.
const maxGiven = 1000

// InjectionReader answers from the view of injections. Its methods are safe for concurrent use.
type InjectionReader struct{ *engine.Views }

// Given returns what a session was given since its conversation began, was cleared or was compacted.
func (v InjectionReader) Given(ctx context.Context, session events.SessionID) (Given, error) {
	g := Given{IDs: map[events.ID]bool{}}
	err := v.View(ctx, injectionView{}.Name(), func(x *engine.Tx) error {
		b, err := injectionTable().In(x)
		if err != nil {
			return err
		}
		c := b.Cursor()
		k, raw := engine.SeekBefore(c, engine.PlaceKey(session, ^events.Position(0)))
		for n := 0; bytes.HasPrefix(k, session[:]) && n < maxGiven; k, raw = c.Prev() {
			n++
			var i Injection
			if err := x.Decode(raw, &i); err != nil {
				return engine.Damaged("injection at %s: %v", engine.ShowPlace(k), err)
			}
			if emptied := g.take(i); emptied {
				break
			}
		}
		return nil
	})
	return g, err
}

// take adds an injection, the later ones being known; it reports whether the conversation held nothing before it.
func (g *Given) take(i Injection) (emptied bool) {
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
