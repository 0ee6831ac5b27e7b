package injections

import (
	"cmp"
	"context"
	"slices"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/order"
	"github.com/cmemd/cmemd/projections/engine"
)

// Given is what a session's conversation still holds of the memory that it was given.
type Given struct {
	IDs  map[events.ID]bool // rows, since the conversation was emptied last
	Knew events.Position    // what the latest choice at a start of the session knew; 0: there was none
}

// maxGiven is how many injections of a session are read.
const maxGiven = 1000

// Reader answers from the view of injections. Its methods are safe for concurrent use.
type Reader struct{ Views *engine.Views }

// Given returns what a session was given since its conversation began, was cleared or was compacted.
func (v Reader) Given(ctx context.Context, session events.SessionID) (Given, error) {
	g := Given{IDs: map[events.ID]bool{}}
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

// InjectionsOf returns where a row was given to an agent, the earliest first, at most limit of them (0 means 100), and how
// many there are. It reads all injections there are: one a session's start, about a microsecond each.
func (v Reader) InjectionsOf(ctx context.Context, id events.ID, limit int) (list []Injection, total int, err error) {
	if limit <= 0 {
		limit = 100
	}
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
// them (0 means 100).
func (v Reader) InjectionsBefore(ctx context.Context, session events.SessionID, at events.Position, limit int) ([]Injection, error) {
	if limit <= 0 {
		limit = 100
	}
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
