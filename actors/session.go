package actors

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/session"
)

// sessionActor is one session that is awake: its folded state, the commands that wait, and the turn it is about.
type sessionActor struct {
	sys     *System
	id      events.SessionID
	clean   bool // a turn found in flight was cut by an orderly stop
	appends *sync.WaitGroup

	self      *actor.PID
	state     *session.State // nil after an append error, until the log was read again
	queue     []*request     // not decided yet
	appending bool
	busy      time.Time // when something last happened
	timer     *time.Timer
	leaving   bool // asked to passivate

	wanted   bool // a lease was asked for
	leased   bool
	observer *actor.PID
	turn     *running
}

// running is the turn that the actor is about, from its preparation to the commit of its end.
type running struct {
	id      events.ID
	work    session.Work
	started bool      // TurnStarted is on disk
	ending  bool      // its end is decided, and on its way to the disk
	hangs   time.Time // when an observer that does not answer is given up
}

// Receive handles one message. What it queues is flushed, and what is owed is looked at, in settle.
func (a *sessionActor) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		a.recover(c)
	case *request:
		a.busy = a.sys.cfg.Now()
		a.queue = append(a.queue, m)
		a.ensure(c)
		a.flush(c)
	case committed:
		a.committed(c, m)
	case wake:
		a.ensure(c)
		a.advance(c)
	case granted:
		a.wanted, a.leased = false, true
		a.advance(c)
	case askAgain:
		a.wanted = false
		a.advance(c)
	case prepared:
		a.prepared(c, m)
	case outcome:
		a.ended(c, m)
	case observerCrashed:
		a.crashed(c, m)
	case passivate:
		a.passivate(c)
	case *actor.Restarting, *actor.Stopping:
		a.abandon()
	}
}

// recover folds the stream. Appends of an earlier incarnation are waited for, so that the fold includes them.
func (a *sessionActor) recover(c actor.Context) {
	a.self, a.busy = c.Self(), a.sys.cfg.Now()
	a.appends.Wait()
	state, err := session.Fold(a.sys.cfg.Log.Stream(context.Background(), a.id.Stream(), 0))
	if err != nil {
		panic(fmt.Errorf("fold %s: %w", a.id, err))
	}
	a.state = state
	c.Send(c.Parent(), recovered{a.id})
	if since, _, ok := state.Quarantined(); ok {
		c.Send(c.Parent(), quarantined{a.id, since})
	}
	if _, ok := state.InFlight(); ok {
		a.enqueue(session.Interrupt{ID: a.sys.cfg.NewID(), At: a.sys.cfg.Now(), Clean: a.clean}, nil)
		a.flush(c)
		return
	}
	a.advance(c)
}

// enqueue queues a command of the actor's own, with what to do after its commit or its refusal.
func (a *sessionActor) enqueue(cmd session.Command, then func(actor.Context, error)) {
	a.queue = append(a.queue, &request{session: a.id, cmds: []session.Command{cmd}, then: then})
}

// flush decides the whole queue and hands it to the log as one append, unless one is in flight. Callers are answered by
// whoever waits for the append, so that a crash of this actor cannot swallow an answer.
func (a *sessionActor) flush(c actor.Context) {
	if a.appending || len(a.queue) == 0 {
		return
	}
	batch, expected := a.queue, a.state.Version()
	a.queue = nil
	drafts := a.decide(batch)
	a.appending = true
	self, stream := a.self, a.id.Stream()
	a.appends.Add(1)
	a.sys.tasks.Go(func() {
		defer a.appends.Done()
		var records []events.Record
		var err error
		if len(drafts) > 0 {
			records, err = a.sys.cfg.Log.Append(context.Background(), stream, expected, drafts...)
		}
		answer(batch, records, err)
		a.sys.root.Send(self, committed{a, batch, records, err})
	})
}

// decide turns the batch into drafts, each on the state that those before it left. A refusal is its caller's alone.
func (a *sessionActor) decide(batch []*request) []events.Draft {
	var drafts []events.Draft
	for _, r := range batch {
		for _, cmd := range r.cmds {
			ds, err := session.Decide(a.state, a.sys.cfg.Rules, cmd)
			if err != nil {
				r.err = err
				break
			}
			session.Apply(a.state, ds)
			drafts = append(drafts, ds...)
			r.upTo = len(drafts)
			r.drafts += len(ds)
		}
	}
	return drafts
}

// answer tells every caller of a batch what became of its request.
func answer(batch []*request, records []events.Record, err error) {
	for _, r := range batch {
		if err == nil && r.upTo > 0 && r.drafts > 0 {
			r.receipt.Position = records[r.upTo-1].Position
		}
		r.receipt.Duplicate = r.drafts == 0
		r.answer(errors.Join(r.err, err))
	}
}

func (a *sessionActor) committed(c actor.Context, m committed) {
	if m.by != a { // of an incarnation that crashed; the fold has it
		return
	}
	if m.err != nil {
		a.fail(c, m.err)
		return
	}
	a.appending = false
	a.state.Place(m.records)
	a.announce(c, m.records)
	for _, r := range m.batch {
		if r.then != nil {
			r.then(c, r.err)
		}
	}
	a.advance(c)
}

// fail forgets everything after an error of the log, since the state may be ahead of it, and reads the log again at
// the next request, or a moment later. The mailbox is kept: a stop would lose what is in it. A log that is closed ends
// the actor.
func (a *sessionActor) fail(c actor.Context, err error) {
	if errors.Is(err, eventlog.ErrClosed) || errors.Is(err, eventlog.ErrFailed) {
		c.Stop(c.Self())
		return
	}
	a.sys.cfg.Logger.Error("the log failed this session; it is read again", "session", a.id, "err", err)
	for _, r := range a.queue {
		r.answer(err)
	}
	if a.observer != nil {
		c.Stop(a.observer)
		a.observer = nil
	}
	if a.leased {
		a.giveBack(ended{holder: a.self})
	}
	a.queue, a.turn, a.state, a.appending = nil, nil, nil, false
	a.clean = true // a turn that is found in flight was cut by the log, and blames nobody
	a.wakeIn(rewakeDelay)
}

// ensure reads the session again if an append error made its state void.
func (a *sessionActor) ensure(c actor.Context) {
	if a.state == nil {
		a.recover(c)
	}
}

// announce tells the supervisor of rulings that concern more than this session.
func (a *sessionActor) announce(c actor.Context, records []events.Record) {
	for _, r := range records {
		switch r.Kind {
		case events.KindSessionQuarantined:
			a.sys.cfg.Logger.Warn("session quarantined", "session", a.id, "position", r.Position)
			c.Send(c.Parent(), quarantined{a.id, r.OccurredAt})
		case events.KindSessionReleased:
			a.sys.cfg.Logger.Info("session released", "session", a.id, "position", r.Position)
			c.Send(c.Parent(), released{a.id, releasedBy(r)})
		case events.KindSessionRespawned:
			a.sys.cfg.Logger.Warn("observer respawned", "session", a.id, "generation", a.state.Generation())
		case events.KindInputsDropped:
			a.sys.cfg.Logger.Warn("inputs given up", "session", a.id, "position", r.Position)
		}
	}
}

func releasedBy(r events.Record) string {
	if e, err := r.Event(); err == nil {
		if e, ok := e.(events.SessionReleased); ok {
			return e.By
		}
	}
	return "probe"
}

// advance asks what is owed, acts on it, and says when to ask again. State has no position to offer while an append is
// in flight: its commit comes back here.
func (a *sessionActor) advance(c actor.Context) {
	if a.appending || a.leaving || a.state == nil {
		return
	}
	now := a.sys.cfg.Now()
	plan := session.Next(a.state, a.sys.cfg.Rules, now)
	if plan.Tick {
		a.enqueue(session.Tick{ID: a.sys.cfg.NewID(), At: now}, nil)
	}
	a.seekTurn(c, plan)
	a.giveUpHung(c, now)
	a.flush(c)
	a.schedule(c, plan, now)
}

// seekTurn asks for a lease while a turn is due, begins it when there is one, and gives back what is not needed.
func (a *sessionActor) seekTurn(c actor.Context, plan session.Plan) {
	switch {
	case a.turn != nil:
	case plan.Turn == nil && a.leased:
		a.giveBack(ended{holder: a.self})
	case plan.Turn != nil && a.leased:
		a.begin(c, *plan.Turn)
	case plan.Turn != nil && !a.wanted:
		a.wanted = true
		w := want{session: a.id, holder: a.self, probe: plan.Turn.Probe}
		if h, ok := a.state.Held(); ok {
			w.held = &h
		}
		c.Send(a.sys.dispatch, w)
	}
}

func (a *sessionActor) giveBack(e ended) {
	a.leased = false
	a.sys.root.Send(a.sys.dispatch, e)
}

// schedule sets the one timer: for what Next waits for, for an observer that may hang, or for passivation.
func (a *sessionActor) schedule(c actor.Context, plan session.Plan, now time.Time) {
	if a.timer != nil {
		a.timer.Stop()
	}
	idle := a.turn == nil && !a.wanted && !a.leased && !a.appending && len(a.queue) == 0
	passive := a.busy.Add(a.sys.cfg.Passivate)
	if idle && !now.Before(passive) {
		a.leaving = true
		c.Send(c.Parent(), mayPassivate{a.id, plan.Next})
		return
	}
	at := plan.Next
	if idle {
		at = earlier(at, passive)
	}
	if a.turn != nil {
		at = earlier(at, a.turn.hangs)
	}
	if at.IsZero() {
		return
	}
	a.wakeIn(max(0, at.Sub(now)))
}

func (a *sessionActor) wakeIn(d time.Duration) {
	if a.timer != nil {
		a.timer.Stop()
	}
	self, root := a.self, a.sys.root
	a.timer = time.AfterFunc(d, func() { root.Send(self, wake{}) })
}

// earlier returns the earlier of two times, where zero is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// passivate ends an idle actor: the supervisor holds back what arrives from now on. It stays if something came before.
func (a *sessionActor) passivate(c actor.Context) {
	if a.appending || len(a.queue) > 0 || a.turn != nil {
		a.leaving = false
		c.Send(c.Parent(), staying{a.id})
		a.advance(c)
		return
	}
	c.Stop(c.Self())
}

// abandon cancels what a stop or a restart leaves behind. It must not panic: that would revive the actor.
func (a *sessionActor) abandon() {
	if a.timer != nil {
		a.timer.Stop()
	}
	for _, r := range a.queue {
		r.answer(fmt.Errorf("%w: its queue is given back", ErrStopped))
	}
	a.queue = nil
}
