package actors

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/clip"
)

// sessions is the supervisor of all session actors. It finds or wakes them, keeps what arrives while one leaves, and
// restarts or parks those that crash.
type sessions struct {
	sys         *System
	children    map[events.SessionID]*child
	byPID       map[string]events.SessionID
	woken       map[events.SessionID]bool // in this life of the daemon
	quarantines provider.Quarantines
	stopping    bool
}

type child struct {
	pid         *actor.PID // nil: asleep
	passivating bool
	stash       []any           // what arrived while leaving
	faults      int             // crashes since it last did something
	parkErr     error           // why it is not woken any more; nil: it may be
	appends     *sync.WaitGroup // those of any incarnation: a new one waits for them before it reads
	alarm       alarm           // wakes it
}

func newSessions(sys *System) *sessions {
	return &sessions{
		sys: sys, children: map[events.SessionID]*child{}, byPID: map[string]events.SessionID{}, woken: map[events.SessionID]bool{},
		quarantines: provider.Quarantines{},
	}
}

// Receive routes requests and follows the children's lives. A supervisor that is stopping still gets messages while its
// children end: it must not spawn others.
func (s *sessions) Receive(c actor.Context) {
	if s.stopping {
		refuse(c.Message())
		return
	}
	switch m := c.Message().(type) {
	case *actor.Started:
		s.findOwing(c)
	case *request:
		s.route(c, m.session, m)
	case wakeSession:
		s.route(c, m.session, wake{})
	case askAgain:
		for _, k := range s.children {
			if k.pid != nil {
				c.Send(k.pid, m)
			}
		}
	case mayPassivate:
		s.passivate(c, m)
	case passivationRefused:
		s.release(c, m.session)
	case sessionRecovered:
		s.child(m.session).faults = 0
	case quarantined:
		s.quarantined(c, m)
	case released:
		delete(s.quarantines, m.session)
		s.undegrade(c, "a "+m.by+" released a session")
	case answeredTurn:
		s.undegrade(c, "a turn was answered")
	case restartChild:
		s.restart(c, m.who)
	case *actor.Terminated:
		s.gone(c, m.Who)
	case *actor.Stopping, *actor.Restarting:
		s.abandon()
	}
}

// abandon refuses what was held back, and wakes nobody any more.
func (s *sessions) abandon() {
	s.stopping = true
	for _, k := range s.children {
		k.alarm.stop()
		for _, m := range k.stash {
			refuse(m)
		}
		k.stash = nil
	}
}

// refuse answers a request that comes while its actor is stopping.
func refuse(m any) {
	if r, ok := m.(*request); ok {
		r.answer(ErrStopped)
	}
}

// findOwing wakes, in the background, whoever owes something.
func (s *sessions) findOwing(c actor.Context) {
	if s.sys.cfg.Owing == nil {
		return
	}
	self := c.Self()
	s.sys.begin(func(ctx context.Context) {
		ids, err := s.sys.cfg.Owing(ctx)
		if err != nil && ctx.Err() == nil {
			s.sys.cfg.Logger.Error("cannot tell which sessions owe work; each is found at its next event", "err", err)
		}
		for _, id := range ids {
			s.sys.root.Send(self, wakeSession{id})
		}
	})
}

func (s *sessions) child(id events.SessionID) *child {
	k := s.children[id]
	if k == nil {
		k = &child{appends: new(sync.WaitGroup)}
		s.children[id] = k
	}
	return k
}

func (s *sessions) route(c actor.Context, id events.SessionID, m any) {
	k := s.child(id)
	switch {
	case k.parkErr != nil:
		if r, ok := m.(*request); ok {
			r.answer(k.parkErr)
		}
	case k.passivating:
		k.stash = append(k.stash, m)
	default:
		s.awake(c, id, k)
		c.Send(k.pid, m)
	}
}

func (s *sessions) awake(c actor.Context, id events.SessionID, k *child) {
	k.alarm.stop()
	if k.pid != nil {
		return
	}
	clean := s.sys.cfg.Previous.Clean && !s.woken[id]
	s.woken[id] = true
	make := func() actor.Actor {
		if k.parkErr != nil {
			return parked{k.parkErr}
		}
		a := &sessionActor{sys: s.sys, id: id, clean: clean, ownAppends: k.appends}
		clean = false // a restart within this life is no clean stop
		return a
	}
	k.pid = c.Spawn(s.sys.props(make))
	s.byPID[k.pid.Id] = id
}

func (s *sessions) passivate(c actor.Context, m mayPassivate) {
	k := s.children[m.session]
	if k == nil || k.pid == nil || k.passivating {
		return
	}
	k.passivating = true
	s.wakeAt(c, m.session, k, m.next)
	c.Send(k.pid, passivate{})
}

func (s *sessions) wakeAt(c actor.Context, id events.SessionID, k *child, at time.Time) {
	k.alarm.set(at, s.sys.cfg.Now(), s.sys.root, c.Self(), wakeSession{id})
}

// release hands over what was held back while a child was leaving.
func (s *sessions) release(c actor.Context, id events.SessionID) {
	k := s.children[id]
	if k == nil {
		return
	}
	held := k.stash
	k.passivating, k.stash = false, nil
	for _, m := range held {
		s.route(c, id, m)
	}
}

func (s *sessions) gone(c actor.Context, who *actor.PID) {
	id, ok := s.byPID[who.Id]
	if !ok {
		return
	}
	delete(s.byPID, who.Id)
	k := s.children[id]
	k.pid = nil
	if !k.passivating && k.parkErr == nil {
		s.wakeAt(c, id, k, s.sys.cfg.Now().Add(policy.RewakeDelay))
	}
	s.release(c, id)
	if k.pid == nil && !k.alarm.isSet() && k.parkErr == nil && k.faults == 0 {
		delete(s.children, id)
	}
}

// HandleFailure records a session actor's crash, answers whoever waited for the message that did it, and restarts
// it: its mailbox is kept, its state is read from the log again.
func (s *sessions) HandleFailure(_ *actor.ActorSystem, sup actor.Supervisor, who *actor.PID, _ *actor.RestartStatistics, reason, message any) {
	id := s.byPID[who.Id]
	k := s.child(id)
	k.faults++
	if k.passivating { // what was held back for it is let in again
		s.sys.root.Send(s.sys.sessions, passivationRefused{id})
	}
	command := "message"
	if r, ok := actor.UnwrapEnvelopeMessage(message).(*request); ok {
		command = r.cmds[0].Name()
		r.answer(faultedBy(reason))
	}
	s.sys.cfg.Logger.Error("session crashed", "session", id, "command", command, "faults", k.faults, "err", reason)
	fault := events.SessionFaulted{Session: id, Command: command, Cause: clip.Head(fmt.Sprint(reason), 500)}
	s.record(fault)
	wait, park := policy.AfterFaults(k.faults)
	if park { // it is restarted as one that answers what is in its mailbox
		k.parkErr = parkedBy(reason)
		s.sys.cfg.Logger.Error("session parked: it crashes whenever it is woken", "session", id, "err", reason)
	}
	if wait == 0 {
		sup.RestartChildren(who)
		return
	}
	self, root := s.sys.sessions, s.sys.root
	time.AfterFunc(wait, func() { root.Send(self, restartChild{who}) })
}

// faultedBy is the answer to a request on which a session crashed for a reason.
func faultedBy(reason any) error {
	if err, ok := reason.(error); ok && errors.Is(err, events.ErrCorrupt) {
		return fmt.Errorf("%w: %w", ErrFaulted, err)
	}
	return fmt.Errorf("%w: %v", ErrFaulted, reason)
}

// restart restarts a child whose mailbox has been waiting for it.
func (s *sessions) restart(c actor.Context, who *actor.PID) {
	if _, ok := s.byPID[who.Id]; ok {
		c.(actor.Supervisor).RestartChildren(who)
	}
}

// parked takes the place of a session actor that cannot live: it refuses what was sent to it.
type parked struct{ why error }

// parkedBy is why a session is parked that crashed for a reason. A log that cannot be read is named as such: it is no fault of
// this program.
func parkedBy(reason any) error {
	err, _ := reason.(error)
	if damage, ok := errors.AsType[*eventlog.CorruptError](err); ok {
		return fmt.Errorf("%w: %w", ErrParked, damage)
	}
	return ErrParked
}

// Receive refuses requests.
func (p parked) Receive(c actor.Context) {
	if r, ok := c.Message().(*request); ok {
		r.answer(p.why)
	}
}

func (s *sessions) record(e events.Event) {
	_, err := eventlog.AppendEnd(context.Background(), s.sys.cfg.Log, events.Daemon, s.sys.draft(e, events.ID{}))
	if err != nil {
		s.sys.cfg.Logger.Error("cannot record the daemon's state", "kind", events.KindOf(e), "err", err)
	}
}

func (s *sessions) quarantined(c actor.Context, m quarantined) {
	s.quarantines[m.session] = m.since
	why := s.quarantines.Degrade(s.sys.cfg.Now())
	if why == "" || s.sys.degraded.Load() {
		return
	}
	s.sys.degraded.Store(true)
	s.record(events.DaemonDegraded{Why: why})
	s.sys.cfg.Logger.Error("capturing only, until a probe is answered", "why", why)
	c.Send(s.sys.dispatch, degrade{on: true})
}

// undegrade ends capturing only.
func (s *sessions) undegrade(c actor.Context, why string) {
	if !s.sys.degraded.Load() {
		return
	}
	s.sys.degraded.Store(false)
	clear(s.quarantines)
	s.record(events.DaemonDegraded{Why: why, Cleared: true})
	s.sys.cfg.Logger.Info("observing again", "why", why)
	c.Send(s.sys.dispatch, degrade{on: false})
}
