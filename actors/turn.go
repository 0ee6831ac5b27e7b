package actors

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/clip"
	"github.com/cmemd/cmemd/internal/observer/turn"
)

// begin has the observer read what the turn is about. The turn starts when its prompt is known.
func (a *sessionActor) begin(c actor.Context, w session.Work) {
	a.turn = &running{
		id: a.sys.cfg.NewID(), work: w, route: a.sys.cfg.allRoutes()[a.lease.Candidate.Index], answers: a.lease.LastAnswer, hangs: a.deadline(),
	}
	if a.observer == nil {
		a.observer = c.Spawn(a.sys.props(func() actor.Actor { return &observerActor{sys: a.sys} }))
	}
	c.Send(a.observer, prepare{turn.RequestOf(a.turn.id, w, a.state)})
}

func (a *sessionActor) deadline() time.Time {
	return a.sys.cfg.Now().Add(a.sys.cfg.TurnTimeout + a.sys.cfg.HangGrace)
}

func (a *sessionActor) current(id events.ID) bool {
	return a.turn != nil && a.turn.id == id && !a.turn.ending
}

// prepared records that the provider is about to be asked, and then has it asked.
func (a *sessionActor) prepared(c actor.Context, m prepared) {
	if !a.current(m.turn) || a.sys.ending.Load() {
		return
	}
	if m.err != nil {
		a.postpone(m.err)
		a.advance(c)
		return
	}
	a.failures = 0
	instead := a.lease.Instead
	if t := a.lease.Trivial; t != nil && m.trivial {
		a.turn.route, a.turn.answers, instead = a.sys.cfg.allRoutes()[t.Index], a.lease.LastTrivialAnswer, nil
		c.Send(a.sys.dispatch, providerSwitched{holder: a.self, provider: t.Provider})
	}
	o := a.turn.route
	a.turn.work.Reads = m.prompt.Reads
	cmd := session.StartTurn{
		Turn: m.turn, At: a.sys.cfg.Now(), Work: a.turn.work, Provider: o.Name(), Model: o.Model(), Instead: instead,
		PromptBytes: m.prompt.Size(), Notable: m.notable,
	}
	begun := a.turn
	a.enqueue(cmd, func(c actor.Context, err error) {
		if a.turn != begun {
			return // what is forgotten took it away
		}
		if err != nil { // the inputs were settled, or something was forgotten, in the meantime
			a.turn = nil
			return
		}
		if id, ok := a.state.InFlight(); !ok || id != m.turn {
			return // the same append ended it
		}
		a.turn.started, a.turn.hangs = true, a.deadline()
		c.Send(a.observer, ask{prompt: m.prompt, route: o})
	})
	a.flush()
}

// postpone gives the turn up before it started, because the log could not be read, and tries again later and later.
func (a *sessionActor) postpone(err error) {
	a.failures++
	wait := policy.Backoff{First: policy.RewakeDelay, Cap: time.Minute}.Nth(a.failures)
	a.sys.cfg.Logger.Error("cannot read a turn's inputs", "session", a.id, "turn", a.turn.id, "err", err, "again_in", wait)
	a.turn, a.rest = nil, a.sys.cfg.Now().Add(wait)
	a.giveBack(ended{holder: a.self})
}

// ended records what came of the turn, and then gives the lease back: the session's event is on disk first.
func (a *sessionActor) ended(m outcome) {
	if !a.current(m.turn) {
		return
	}
	if m.Answer != nil {
		a.warnDropped(m.Answer)
		a.end(*m.Answer, ended{holder: a.self, End: provider.End{
			Received: true, Parsed: m.Answer.Parsed(), Use: provider.UseOf(*m.Answer), Turn: m.turn, Spend: a.spend(m.Answer.Received.Bill(), m.Answer.At),
		}})
		return
	}
	a.sys.cfg.Logger.Warn("turn failed", "session", a.id, "turn", m.turn, "class", m.Failed.Class, "err", m.Failed.Message)
	a.fail(*m.Failed)
}

// fail ends the turn as failed.
func (a *sessionActor) fail(f events.TurnFailed) {
	now := a.sys.cfg.Now()
	if f.Class.BlamesTurn() {
		f.Answered = a.turn.answers
	}
	settled := provider.AsksForSmallerBatch(f.Class, len(a.turn.work.Settles))
	a.end(session.Fail{ID: a.sys.cfg.NewID(), At: now, Failed: f}, ended{
		holder: a.self, End: provider.End{Failure: &f, Settled: settled, Spend: a.spend(f.Bill(), now)},
	})
}

// spend is what the turn used, for the budget.
func (a *sessionActor) spend(b events.Bill, at time.Time) provider.Spend {
	o := a.turn.route
	return provider.Spend{Session: a.id, At: at, Tokens: b.Usage.Input + b.Usage.Output, USD: a.sys.price(o.Name(), o.Model(), b)}
}

// price is what a turn cost. Where it cannot be told, it is what the provider says.
func (s *System) price(provider, asked string, b events.Bill) (usd float64) {
	defer recoverWith(s, &usd, b.Cost, "cannot tell what a turn cost", "provider", provider)
	return s.cfg.Price(provider, asked, b)
}

func (a *sessionActor) end(cmd session.Command, e ended) {
	a.turn.ending = true
	var own *request
	own = a.enqueue(cmd, func(_ actor.Context, err error) {
		if err != nil {
			a.sys.cfg.Logger.Error("a turn's end was refused", "session", a.id, "turn", a.turn.id, "err", err)
		}
		a.turn = nil
		if e.Received {
			e.At = own.receipt.Position
		}
		if f := e.Failure; f != nil && f.Class.BlamesTurn() {
			e.Settled = e.Settled || own.draftCount > 1 // the second one gives its input up
		}
		a.giveBack(e)
	})
	a.flush()
}

// HandleFailure is called when the observer crashed. It stops that observer for good: whether and when another one
// follows is session.Decide's to say.
func (a *sessionActor) HandleFailure(_ *actor.ActorSystem, sup actor.Supervisor, who *actor.PID, _ *actor.RestartStatistics, reason, _ any) {
	sup.StopChildren(who)
	cause, _ := reason.(string)
	a.sys.root.Send(a.self, observerCrashed{who: who, reason: cause})
}

// stopObserver ends the observer, whose generation is over. The next turn gets a new one.
func (a *sessionActor) stopObserver(c actor.Context) {
	if a.observer != nil {
		c.Stop(a.observer)
		a.observer = nil
	}
}

func (a *sessionActor) crashed(m observerCrashed) {
	if a.observer == nil || a.observer.Id != m.who.Id {
		return
	}
	a.observer = nil
	a.failCurrentTurn(events.FailCrash, m.reason)
}

// giveUpHung ends a turn whose observer heeds neither its time limit nor its context.
func (a *sessionActor) giveUpHung(c actor.Context, now time.Time) {
	if a.turn == nil || a.turn.ending || now.Before(a.turn.hangs) {
		return
	}
	a.stopObserver(c)
	a.failCurrentTurn(events.FailTimeout, "no answer, and no end when it was cancelled")
}

// failCurrentTurn ends the turn whose observer is gone.
func (a *sessionActor) failCurrentTurn(class events.FailureClass, why string) {
	if a.turn == nil || a.turn.ending {
		return
	}
	a.sys.cfg.Logger.Warn("observer lost", "session", a.id, "turn", a.turn.id, "class", class, "err", why)
	if !a.turn.started {
		// It went before the turn was recorded, so nothing may be counted against the inputs: a fault of this actor.
		panic("the observer ended while it read a turn's inputs: " + why)
	}
	failed := a.turn.paid
	failed.Turn, failed.Class, failed.Message, failed.Provider = a.turn.id, class, clip.Head(why, 500), a.turn.route.Name()
	a.fail(failed)
}
