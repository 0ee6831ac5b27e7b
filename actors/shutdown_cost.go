package actors

import (
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
)

// shutdownWait is how long the end of a life waits for the turns that it cuts to say what they cost, and for that to be on
// disk: a provider that heeds its context does in milliseconds, and the whole end has five seconds.
const shutdownWait = time.Second

// sendCost tells who asked for a turn what it cost, though it was cancelled. If that is sent, who asked takes the turn out of
// the asked: when the cost is on disk, or is of no use any more.
func (s *System) sendCost(who *actor.PID, o outcome) (sent bool) {
	b := o.Bill()
	if b == (events.Bill{}) {
		return false
	}
	s.root.Send(who, turnCost{failed: events.TurnFailed{Turn: o.turn}.WithBill(b), cut: true})
	return true
}

// paid notes what the turn cost. Where the life ends, the turn ends with it, on record: nobody else would ever know.
func (a *sessionActor) paid(m turnCost) {
	over := func() {
		if m.cut {
			a.sys.asked.leave()
		}
	}
	if !a.current(m.failed.Turn) {
		over()
		return
	}
	a.turn.paid = m.failed
	if !m.cut || !a.turn.started || !a.sys.ending.Load() {
		over()
		return
	}
	a.turn.ending = true
	cmd := session.Interrupt{ID: a.sys.cfg.NewID(), At: a.sys.cfg.Now(), Clean: true, Paid: m.failed.Bill()}
	a.enqueue(cmd, func(actor.Context, error) {
		a.turn = nil
		over()
	})
	a.flush()
}

// settleBills waits until the turns that were cut have ended and what they cost is on disk, for shutdownWait at most.
func (s *System) settleBills() {
	limit := time.NewTimer(min(shutdownWait, s.cfg.HangGrace))
	defer limit.Stop()
	select {
	case <-s.asked.drained():
	case <-limit.C:
	}
}

// tally counts what is under way. Unlike a sync.WaitGroup it may be entered while somebody waits. Its zero value is ready.
type tally struct {
	mu   sync.Mutex // guards the fields below
	n    int
	zero chan struct{} // closed when n is 0; nil: nobody waits
}

func (t *tally) enter() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
}

func (t *tally) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n--; t.n == 0 && t.zero != nil {
		close(t.zero)
		t.zero = nil
	}
}

// drained returns a channel that is closed as soon as nothing is under way.
func (t *tally) drained() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	zero := make(chan struct{})
	if t.n == 0 {
		close(zero)
		return zero
	}
	t.zero = zero
	return zero
}
