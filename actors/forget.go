package actors

import (
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cmemd/cmemd/events"
)

// dropForgotten lets go of the turn at hand where records say that something of its session was forgotten: of one that the
// decision interrupted, and of one whose prompt is put together or at hand, and may hold what goes. Its observer ends, the
// lease goes back, and what is still owed is asked for anew.
func (a *sessionActor) dropForgotten(c actor.Context, records []events.Record) {
	forgot := slices.ContainsFunc(records, func(r events.Record) bool { return r.Kind == events.KindMemoryForgotten })
	if !forgot || a.turn == nil || a.turn.ending {
		return
	}
	if id, ok := a.state.InFlight(); ok && id == a.turn.id {
		return // it was told nothing of that
	}
	a.sys.cfg.Logger.Info("turn dropped: what it is about is being forgotten", "session", a.id, "turn", a.turn.id)
	a.dismiss(c)
	a.turn = nil
	a.giveBack(ended{holder: a.self})
}
