package actors

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
)

// sessionActor is one session that is awake: its folded state, the commands that wait, and the turn it is about.
type sessionActor struct {
	sys        *System
	id         events.SessionID
	clean      bool            // a turn found in flight was cut by an orderly stop
	ownAppends *sync.WaitGroup // of any incarnation of this session

	self     *actor.PID
	state    *session.State
	drain    drain
	busy     time.Time // when something last happened
	rest     time.Time // no turn is sought before: the log could not be read
	failures int       // in a row, to read the log for a turn
	alarm    alarm
	leaving  bool // asked to passivate
	stopping bool
	healthy  bool // has done something: its supervisor forgets earlier crashes

	wanted      bool                 // a lease was asked for
	requirement provider.Requirement // for what
	alternative provider.Requirement // and for what instead, if for that nobody may be asked
	holding     holdStatus           // what the dispatcher said to that
	leased      bool
	lease       provider.Lease // whom the turn may be asked of
	observer    *actor.PID
	turn        *running
}

// running is the turn that the actor is about, from its preparation to the commit of its end.
type running struct {
	id      events.ID
	work    session.Work
	route   *Route            // that is asked
	answers events.Position   // what it had answered last when the turn was let in; 0: nothing is known
	paid    events.TurnFailed // what it cost, if its observer could say so before it crashed
	started bool              // TurnStarted is on disk
	ending  bool              // its end is decided, and on its way to the disk
	hangs   time.Time         // when an observer that does not answer is given up
}

// Receive handles one message. An actor that is stopping still gets messages while its observer ends: it must not
// begin anything.
func (a *sessionActor) Receive(c actor.Context) {
	if a.stopping {
		refuse(c.Message())
		return
	}
	switch m := c.Message().(type) {
	case *actor.Started:
		a.recover(c)
	case *request:
		a.busy = a.sys.cfg.Now()
		a.drain.add(m)
		a.flush()
	case committed:
		a.committed(c, m)
	case wake:
		a.drain.requeue()
		a.advance(c)
	case granted:
		a.wanted, a.leased, a.lease = false, true, m.lease
		a.advance(c)
	case holdStatus:
		a.holding = m
		a.advance(c)
	case askAgain:
		a.wanted = false
		a.advance(c)
	case prepared:
		a.prepared(c, m)
	case outcome:
		a.ended(m)
	case turnCost:
		a.paid(m)
	case observerCrashed:
		a.crashed(m)
	case passivate:
		a.passivate(c)
	case *actor.Restarting, *actor.Stopping:
		a.abandon()
	}
}

// recover folds the stream and goes on from there. Appends of an earlier incarnation are waited for, so that the fold
// includes them, and a lease that it held is given back.
func (a *sessionActor) recover(c actor.Context) {
	a.sys.live.Add(1)
	a.self, a.busy = c.Self(), a.sys.cfg.Now()
	a.ownAppends.Wait()
	c.Send(a.sys.dispatch, ended{holder: a.self, End: provider.End{Crashed: true}})
	a.fold()
	if since, _, ok := a.state.Quarantined(); ok {
		c.Send(c.Parent(), quarantined{a.id, since})
	}
	if _, ok := a.state.InFlight(); ok {
		a.enqueue(session.Interrupt{ID: a.sys.cfg.NewID(), At: a.sys.cfg.Now(), Clean: a.clean}, nil)
	}
	a.advance(c)
}

// fold reads the session from the log. A log that cannot be read is a crash: the supervisor tries again.
func (a *sessionActor) fold() {
	state, err := session.Fold(a.sys.cfg.Log.Stream(context.Background(), a.id.Stream(), 0))
	if err != nil {
		panic(fmt.Errorf("fold %s: %w", a.id, err))
	}
	a.state = state
}

// enqueue queues a command of the actor's own, with what to do after its commit or its refusal. The request's receipt
// holds from then on.
func (a *sessionActor) enqueue(cmd session.Command, then func(actor.Context, error)) *request {
	r := &request{session: a.id, cmds: []session.Command{cmd}, afterCommit: then}
	a.drain.add(r)
	return r
}

// advance asks what is owed, acts on it, and says when to ask again. State has no position to offer while an append is
// in flight: its commit comes back here. What is queued goes first, so that a tick never overtakes a sign of life.
func (a *sessionActor) advance(c actor.Context) {
	a.flush()
	if a.drain.appending() || a.leaving {
		return
	}
	now := a.sys.cfg.Now()
	plan := session.Next(a.state, a.sys.cfg.Rules, now)
	if plan.Tick {
		a.enqueue(session.Tick{ID: a.sys.cfg.NewID(), At: now}, nil)
	}
	plan.Next = policy.Earlier(plan.Next, a.expire(now))
	a.seekTurn(c, plan, now)
	a.giveUpHung(c, now)
	a.flush()
	a.schedule(c, plan, now)
}

// expire gives up what is held for too long or is too much, and returns when to look again; zero: there is no need.
func (a *sessionActor) expire(now time.Time) time.Time {
	var held time.Time
	if a.wanted && now.Before(a.holding.until) {
		held = a.holding.since
	}
	due, at := session.Overdue(a.state, a.sys.cfg.Rules, held, now)
	if due {
		a.enqueue(session.Expire{ID: a.sys.cfg.NewID(), At: now, Held: held}, nil)
	}
	return at
}

// seekTurn asks for a lease while a turn is due, begins it when there is one, and gives back what is not needed. What is due
// may change while it is waited for, and with it who may be asked.
func (a *sessionActor) seekTurn(c actor.Context, plan session.Plan, now time.Time) {
	if a.turn != nil || a.sys.ending.Load() {
		return
	}
	if plan.Turn == nil {
		if a.leased {
			a.giveBack(ended{holder: a.self})
		}
		return
	}
	first, alternative := provider.RequirementOf(plan.Turn), provider.RequirementOf(plan.Alternative)
	if a.leased && a.lease.Requirement == first {
		a.begin(c, *plan.Turn)
		return
	}
	if a.leased && a.lease.Requirement == alternative {
		a.begin(c, *plan.Alternative)
		return
	}
	if a.leased {
		a.giveBack(ended{holder: a.self})
	}
	if a.wanted && a.requirement == first && a.alternative == alternative || now.Before(a.rest) {
		return
	}
	if !a.wanted {
		a.holding = holdStatus{}
	}
	a.wanted, a.requirement, a.alternative = true, first, alternative
	r := leaseRequest{session: a.id, holder: a.self, requirement: first, alternative: alternative}
	if h, ok := a.state.Held(); ok {
		r.held = &h
	}
	c.Send(a.sys.dispatch, r)
}

func (a *sessionActor) giveBack(e ended) {
	a.leased = false
	a.sys.root.Send(a.sys.dispatch, e)
}

// schedule sets the one alarm: for what Next waits for, for an observer that may hang, or for passivation.
func (a *sessionActor) schedule(c actor.Context, plan session.Plan, now time.Time) {
	passive := a.busy.Add(a.sys.cfg.Passivate)
	idle := a.idle()
	if idle && !now.Before(passive) {
		a.leaving = true
		a.alarm.stop()
		c.Send(c.Parent(), mayPassivate{a.id, plan.Next})
		return
	}
	at := plan.Next
	if idle {
		at = policy.Earlier(at, passive)
	}
	if a.turn != nil {
		at = policy.Earlier(at, a.turn.hangs)
	} else if now.Before(a.rest) {
		at = policy.Earlier(at, a.rest)
	}
	a.wakeAt(at, now)
}

// idle reports whether nothing is under way.
func (a *sessionActor) idle() bool {
	return a.turn == nil && !a.wanted && !a.leased && !a.drain.appending() && a.drain.empty()
}

// wakeAt sets the alarm; zero is never.
func (a *sessionActor) wakeAt(at, now time.Time) { a.alarm.set(at, now, a.sys.root, a.self, wake{}) }

// passivate ends an idle actor: the supervisor holds back what arrives from now on. It stays if something came since it
// offered to leave.
func (a *sessionActor) passivate(c actor.Context) {
	now := a.sys.cfg.Now()
	if a.idle() && !now.Before(a.busy.Add(a.sys.cfg.Passivate)) {
		c.Stop(c.Self())
		return
	}
	a.leaving = false
	c.Send(c.Parent(), passivationRefused{a.id})
	a.advance(c)
}

// abandon cancels what a stop or a restart leaves behind, and answers who waits. It must not panic: that would revive
// the actor.
func (a *sessionActor) abandon() {
	a.stopping = true
	a.sys.live.Add(-1)
	a.alarm.stop()
	a.drain.abandon()
}
