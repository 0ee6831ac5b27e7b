package actors

import (
	"context"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// dispatcher owns the slots, the providers' circuits and the budget's ledger. Sessions ask for a lease, one at a time each,
// and are served first come, first served: with the first of their candidates that may be asked. Who finds none waits,
// and keeps no other waiting that does.
type dispatcher struct {
	sys      *System
	circuits map[string]*circuit // of every offer's name
	ledger   *ledger             // nil: there is no budget
	queue    []want
	used     map[string]string // names of circuits by holders of a lease, by pid
	inUse    string            // who was asked last where nothing special was wanted
	degraded bool              // only probes are granted, and now and then a trial
	trial    time.Time         // when any session may be tried, though none of the quarantined owes a probe
	trials   int
	stale    bool // those that wait may have to be told something else than they were
	timer    *time.Timer
	fresh    bool // loaded and not yet run
}

// startDispatcher is loadDispatcher at the start of a life, which also finds what the end of the last one left undone.
func startDispatcher(sys *System) (*dispatcher, error) {
	d, err := foldDispatcher(sys)
	if err == nil {
		d.restore()
		d.mended()
	}
	return d, err
}

// loadDispatcher folds the providers' streams, for a dispatcher that the library restarts.
func loadDispatcher(sys *System) (*dispatcher, error) {
	d, err := foldDispatcher(sys)
	if err == nil {
		d.mended()
	}
	return d, err
}

func foldDispatcher(sys *System) (*dispatcher, error) {
	d := &dispatcher{
		sys: sys, circuits: map[string]*circuit{}, ledger: newLedger(sys), used: map[string]string{},
		inUse: sys.cfg.Providers[0].Name(), fresh: true,
	}
	d.degrade(sys.degraded.Load())
	for _, name := range sys.cfg.names() {
		p, err := foldCircuit(sys.cfg.Log, name)
		if err != nil {
			return nil, err
		}
		d.circuits[name] = p
	}
	return d, nil
}

func (d *dispatcher) mended() {
	for _, p := range d.circuits {
		p.mended()
	}
}

// degrade begins or ends capturing only.
func (d *dispatcher) degrade(on bool) {
	d.degraded, d.trials = on, 0
	d.nextTrial()
}

func (d *dispatcher) nextTrial() {
	d.trials++
	d.trial = d.sys.cfg.Now().Add(policy.DefaultQuarantine().Nth(d.trials))
}

// next returns d the first time, and a new dispatcher, folded anew, when the library restarts it. What no log tells, who
// holds a lease and who probes, is handed over, and so is what was spent; who waits for a lease asks again.
func (d *dispatcher) next() *dispatcher {
	if d.fresh {
		d.fresh = false
		return d
	}
	again, err := loadDispatcher(d.sys)
	if err != nil {
		panic(err)
	}
	again.fresh, again.used, again.ledger, again.inUse = false, d.used, d.ledger, d.inUse
	for name, p := range d.circuits {
		again.circuits[name].keep(p)
	}
	return again
}

// Receive serves wants and ends.
func (d *dispatcher) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case want:
		d.want(c, m)
	case ended:
		d.ended(c, m)
	case switched:
		d.switched(m)
	case *actor.Terminated:
		d.lose(m.Who)
		d.forget(m.Who)
	case degrade:
		d.degrade(m.on)
	case spending:
		d.ledger.loaded(m, d.sys.cfg.Now())
		d.stale = true
	case askStatus:
		m.reply <- d.status()
		return
	case *actor.Stopping, *actor.Restarting:
		if d.timer != nil {
			d.timer.Stop()
		}
		return
	case wakeQueue:
		d.stale = true
	case *actor.Started:
	default:
		return
	}
	d.grant(c)
}

func (d *dispatcher) want(c actor.Context, w want) {
	if _, ok := d.used[w.holder.Id]; ok {
		return // its grant is on the way: it asked again before it came
	}
	c.Watch(w.holder)
	// The pause that should have followed its last failure was lost: see restore.
	if h := w.held; h != nil {
		if p := d.circuits[h.Provider]; p != nil && !p.pause.Paused() && h.At.After(p.ruled) {
			d.rule(p, h.Class, h.ResetsAt, h.At, events.ID{})
		}
	}
	if i := slices.IndexFunc(d.queue, func(have want) bool { return have.holder.Id == w.holder.Id }); i >= 0 {
		w.told = d.queue[i].told
		d.queue[i] = w // it wants something else, and keeps its place
		d.tell(&d.queue[i], d.sys.cfg.Now())
		return
	}
	d.queue = append(d.queue, w)
	d.tell(&d.queue[len(d.queue)-1], d.sys.cfg.Now())
}

func (d *dispatcher) ended(c actor.Context, m ended) {
	c.Unwatch(m.holder)
	d.ledger.add(m.spend)
	asked := d.circuits[d.used[m.holder.Id]]
	if m.crashed {
		d.lose(m.holder)
	}
	probe := d.free(m.holder)
	d.forget(m.holder) // nobody watches it any more: a grant could go to an actor that is gone
	if f := m.failure; f != nil && f.Class.BlamesTurn() && asked != nil && !m.settled {
		d.blame(asked, *f, probe)
		return
	}
	if f := m.failure; f != nil && f.Class.BlamesProvider() {
		if asked != nil && (probe || !asked.pause.Paused()) {
			d.rule(asked, f.Class, f.ResetsAt, d.sys.cfg.Now(), f.Turn)
		}
		return
	}
	if m.received && asked != nil {
		asked.heard(m.at)
	}
	if m.received && d.degraded {
		c.Send(d.sys.sessions, answeredTurn{})
	}
	// An answer to what was asked before the pause says nothing of now; one that does not parse, or a refusal, not enough:
	// the next failure goes on doubling.
	if m.parsed && probe {
		d.append(asked, events.ProviderResumed{By: "probe"}, events.ID{})
		d.sys.cfg.Logger.Info("provider resumed", "provider", asked.name)
	}
}

// blame counts a turn that failed by its own fault, and pauses the provider where it is one too many without an answer. While
// it rests it goes on resting: who came early does not make the others wait for longer.
func (d *dispatcher) blame(p *circuit, f events.TurnFailed, probe bool) {
	now := d.sys.cfg.Now()
	if p.pause.Blamed+1 < policy.BlamesAllowed || p.pause.Paused() && !probe || p.pause.Rests(now) {
		p.pause.Blamed++
		return
	}
	d.rule(p, f.Class, f.ResetsAt, now, f.Turn)
}

// forget takes a holder out of the queue.
func (d *dispatcher) forget(holder *actor.PID) {
	d.queue = slices.DeleteFunc(d.queue, func(w want) bool { return w.holder.Id == holder.Id })
}

// free takes a lease back, and reports whether its holder probed a provider.
func (d *dispatcher) free(holder *actor.PID) (probed bool) {
	name, ok := d.used[holder.Id]
	if !ok {
		return false
	}
	delete(d.used, holder.Id)
	return d.circuits[name].free(holder.Id)
}

// lose takes a lease back of which nobody says how it ended: what it cost is in the log alone.
func (d *dispatcher) lose(holder *actor.PID) {
	if _, ok := d.used[holder.Id]; ok {
		d.ledger.distrust()
	}
	d.free(holder)
}

// switched lets another session probe whom a lease was for: all inputs of its turn are trivial, and somebody else is asked.
func (d *dispatcher) switched(m switched) {
	name, ok := d.used[m.holder.Id]
	if !ok {
		return
	}
	d.circuits[name].free(m.holder.Id)
	d.used[m.holder.Id] = m.provider
}

// rule pauses a provider after a failure at the given time. Both times count as they are recorded, without a reading of
// the running clock: else the pause would end some nanoseconds beside what the log gives.
func (d *dispatcher) rule(p *circuit, class events.FailureClass, resetsAt, at time.Time, turn events.ID) {
	resetsAt, at = resetsAt.Round(0), at.Round(0)
	next := p.pause.After(class, policy.Clamp(resetsAt, at), at, d.sys.cfg.Pause)
	d.append(p, events.ProviderPaused{Class: next.Class, Until: next.Until, Probe: next.Probe, Turn: turn}, turn)
	d.sys.cfg.Logger.Warn("provider paused", "provider", p.name, "class", class, "until", next.Until, "probe", next.Probe)
}

// append records a ruling and applies it. An error leaves it in force for this life: the log has failed then, and the
// daemon ends.
func (d *dispatcher) append(p *circuit, e events.Event, turn events.ID) {
	draft := d.sys.draft(e, turn)
	if _, err := eventlog.AppendEnd(context.Background(), d.sys.cfg.Log, p.stream(), draft); err != nil {
		d.sys.cfg.Logger.Error("cannot record the provider's state", "provider", p.name, "err", err)
	}
	p.evolve(e, draft.OccurredAt)
	d.stale = true
}
