package projections

import (
	"bytes"
	"context"

	"github.com/cmemd/cmemd/events"
)

// injectionView keeps what each agent was given, and when. It holds ids, never words.
type injectionView struct{}

func (injectionView) name() string       { return "injections" }
func (injectionView) version() int       { return 1 }
func (injectionView) skipsUnknown() bool { return true }

func injectionTable() table[Injection] { return table[Injection]{name: "rows"} }

func (injectionView) tables() []tableSpec { return []tableSpec{injectionTable().spec(showPlace)} }

type injectionFold struct{ x *tx }

func (injectionView) fold(x *tx) fold { return injectionFold{x} }

func (f injectionFold) apply(r *record) error {
	if r.Kind != events.KindContextInjected {
		return nil
	}
	e, ok, err := payloadOf[events.ContextInjected](r)
	if err != nil || !ok {
		return err
	}
	return injectionTable().put(f.x, placeKey(r.session, r.Position), Injection{
		Session: r.session, Position: r.Position, At: r.OccurredAt, Hook: e.Hook, IDs: e.IDs, Characters: e.Characters,
		Knew: events.Position(e.Position),
	})
}

func (injectionFold) flush() error { return nil }

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
	err := v.view(ctx, injectionView{}.name(), func(x *tx) error {
		b, err := injectionTable().in(x)
		if err != nil {
			return err
		}
		c := b.Cursor()
		k, _ := c.Seek(placeKey(session, ^events.Position(0)))
		k, raw := before(c, k)
		for n := 0; bytes.HasPrefix(k, session[:]) && n < maxGiven; k, raw = c.Prev() {
			n++
			var i Injection
			if err := x.decode(raw, &i); err != nil {
				return damaged("injection at %s: %v", showPlace(k), err)
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
