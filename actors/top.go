package actors

import (
	"github.com/asynkron/protoactor-go/actor"
)

// topActor is the one actor under the library's root, which has no parent strategy of its own. It keeps the dispatcher
// and the sessions supervisor apart: one that crashes is restarted and rebuilds itself, the other goes on.
type topActor struct {
	sys     *System
	started chan<- error
}

// Receive spawns the two branches.
func (t *topActor) Receive(c actor.Context) {
	if _, ok := c.Message().(*actor.Started); !ok {
		return
	}
	first, err := loadDispatcher(t.sys, nil)
	if err != nil {
		t.started <- err
		return
	}
	var last *dispatcher
	t.sys.dispatch = c.Spawn(t.sys.props(func() actor.Actor {
		if last == nil {
			last = first
			return last
		}
		next, err := loadDispatcher(t.sys, last)
		if err != nil {
			panic(err)
		}
		last = next
		return last
	}))
	t.sys.sessions = c.Spawn(t.sys.props(func() actor.Actor { return newSessions(t.sys) }))
	t.started <- nil
}

// HandleFailure restarts the branch. A new dispatcher reads its pauses from the log and is asked for leases again; a new
// sessions supervisor finds whom to wake as at a start.
func (t *topActor) HandleFailure(_ *actor.ActorSystem, sup actor.Supervisor, child *actor.PID, _ *actor.RestartStatistics, reason, _ any) {
	t.sys.cfg.Logger.Error("a supervisor crashed and is restarted", "actor", child.Id, "err", reason)
	sup.RestartChildren(child)
	if child.Id == t.sys.dispatch.Id {
		t.sys.root.Send(t.sys.sessions, askAgain{})
	}
}
