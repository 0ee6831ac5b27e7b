package actors

import (
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cmemd/cmemd/events"
)

// dropForgotten drops the actor's turn when records say that something of the session was forgotten. The turn was interrupted
// by that decision, or it has not started yet and its prompt may hold what is forgotten. Its observer ends, its lease is given
// back, and what is still owed is asked for anew.
func (a *sessionActor) dropForgotten(c actor.Context, records []events.Record) {
	forgot := slices.ContainsFunc(records, func(r events.Record) bool { return r.Kind == events.KindMemoryForgotten })
	if !forgot || a.turn == nil || a.turn.ending {
		return
	}
	if id, ok := a.state.InFlight(); ok && id == a.turn.id {
		return // its prompt holds nothing of that
	}
	a.sys.cfg.Logger.Info("turn dropped: what it is about is being forgotten", "session", a.id, "turn", a.turn.id)
	a.stopObserver(c)
	a.turn = nil
	a.giveBack(ended{holder: a.self})
}
