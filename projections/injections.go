package projections

import (
	"bytes"
	"context"

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

// Given returns what a session was given since its conversation began, was cleared or was compacted.
func (v *Views) Given(ctx context.Context, session events.SessionID) (Given, error) {
	g := Given{IDs: map[events.ID]bool{}}
	err := v.View(ctx, injectionView{}.Name(), func(x *engine.Tx) error {
		b, err := injectionTable().In(x)
		if err != nil {
			return err
		}
		c := b.Cursor()
		k, _ := c.Seek(engine.PlaceKey(session, ^events.Position(0)))
		k, raw := before(c, k)
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
