package actors

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/policy"
)

// dispatcher owns the slots and the provider's circuit. Sessions ask for a lease, one at a time each, and are served
// first come, first served. While the provider rests nobody is. From the end of its pause on there is one turn at a time,
// each a probe, until one is parsed.
type dispatcher struct {
	sys      *System
	queue    []want
	used     map[string]bool // holders of a lease, by pid
	probing  string          // the holder that probes a paused provider; empty: nobody
	pause    policy.Pause
	ruled    time.Time       // when the provider was last paused or resumed
	ruledAt  events.Position // the same, as a record
	since    time.Time       // when it was paused first and not resumed since
	degraded bool            // only probes are granted, and now and then a trial
	trial    time.Time       // when any session may be tried, though none of the quarantined owes a probe
	trials   int
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

// loadDispatcher folds the provider's stream, for a dispatcher that the library restarts.
func loadDispatcher(sys *System) (*dispatcher, error) {
	d, err := foldDispatcher(sys)
	if err == nil {
		d.mended()
	}
	return d, err
}

func foldDispatcher(sys *System) (*dispatcher, error) {
	d := &dispatcher{sys: sys, used: map[string]bool{}, fresh: true}
	d.degrade(sys.degraded.Load())
	for r, err := range sys.cfg.Log.Stream(context.Background(), d.stream(), 0) {
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", d.stream(), err)
		}
		e, err := r.Event()
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", d.stream(), err)
		}
		d.evolve(e, r.OccurredAt)
		d.ruledAt = r.Position
	}
	return d, nil
}

// mended ends a pause early that waits for a person: whoever starts the daemon may have mended it. One probe tells.
func (d *dispatcher) mended() {
	if c := d.pause.Class; c == events.FailAuth || c == events.FailBilling || c == events.FailSetup {
		d.pause.Until = time.Time{}
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
// holds a lease, is handed over; who waits for one asks again.
func (d *dispatcher) next() *dispatcher {
	if d.fresh {
		d.fresh = false
		return d
	}
	again, err := loadDispatcher(d.sys)
	if err != nil {
		panic(err)
	}
	again.fresh, again.used, again.probing = false, d.used, d.probing
	return again
}

func (d *dispatcher) stream() events.StreamID {
	return events.ProviderStream(d.sys.cfg.Providers[0].Name())
}

func (d *dispatcher) evolve(e events.Event, at time.Time) {
	switch e := e.(type) {
	case events.ProviderPaused:
		if !d.pause.Paused() {
			d.since = at
		}
		d.pause, d.ruled = policy.Pause{Class: e.Class, Until: e.Until, Probe: e.Probe, At: at}, at
	case events.ProviderResumed:
		d.pause, d.ruled = policy.Pause{}, at
	}
}

// Receive serves wants and ends.
func (d *dispatcher) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case want:
		d.want(c, m)
	case ended:
		d.ended(c, m)
	case *actor.Terminated:
		d.free(m.Who)
		d.forget(m.Who)
	case degrade:
		d.degrade(m.on)
	case askStatus:
		m.reply <- d.status()
		return
	case *actor.Stopping, *actor.Restarting:
		if d.timer != nil {
			d.timer.Stop()
		}
		return
	case wakeQueue:
	default:
		return
	}
	d.grant(c)
}

func (d *dispatcher) want(c actor.Context, w want) {
	if d.used[w.holder.Id] {
		return // its grant is on the way: it asked again before it came
	}
	c.Watch(w.holder)
	d.forget(w.holder)
	d.queue = append(d.queue, w)
	if d.pause.Rests(d.sys.cfg.Now()) {
		d.hold(w)
	}
	// The pause that should have followed its last failure was lost: see restore.
	if h := w.held; h != nil && h.Provider == d.sys.cfg.Providers[0].Name() && !d.pause.Paused() && h.At.After(d.ruled) {
		d.rule(h.Class, h.ResetsAt, h.At, events.ID{})
	}
}

func (d *dispatcher) ended(c actor.Context, m ended) {
	probe := d.probing == m.holder.Id
	c.Unwatch(m.holder)
	d.free(m.holder)
	d.forget(m.holder) // nobody watches it any more: a grant could go to an actor that is gone
	if f := m.failure; f != nil && f.Class.BlamesProvider() {
		if probe || !d.pause.Paused() {
			d.rule(f.Class, f.ResetsAt, d.sys.cfg.Now(), f.Turn)
		}
		return
	}
	if m.received && d.degraded {
		c.Send(d.sys.sessions, answeredTurn{})
	}
	// An answer to what was asked before the pause says nothing of now; one that does not parse, or a refusal, not enough:
	// the next failure goes on doubling.
	if m.parsed && probe {
		d.append(events.ProviderResumed{By: "probe"}, events.ID{})
		d.sys.cfg.Logger.Info("provider resumed", "provider", d.sys.cfg.Providers[0].Name())
	}
}

// forget takes a holder out of the queue.
func (d *dispatcher) forget(holder *actor.PID) {
	d.queue = slices.DeleteFunc(d.queue, func(w want) bool { return w.holder.Id == holder.Id })
}

func (d *dispatcher) free(holder *actor.PID) {
	delete(d.used, holder.Id)
	if d.probing == holder.Id {
		d.probing = ""
	}
}

// rule pauses the provider after a failure at the given time. Both times count as they are recorded, without a reading of
// the running clock: else the pause would end some nanoseconds beside what the log gives.
func (d *dispatcher) rule(class events.FailureClass, resetsAt, at time.Time, turn events.ID) {
	resetsAt, at = resetsAt.Round(0), at.Round(0)
	next := d.pause.After(class, policy.Clamp(resetsAt, at), at, d.sys.cfg.Pause)
	d.append(events.ProviderPaused{Class: next.Class, Until: next.Until, Probe: next.Probe, Turn: turn}, turn)
	d.sys.cfg.Logger.Warn("provider paused", "provider", d.sys.cfg.Providers[0].Name(), "class", class,
		"until", next.Until, "probe", next.Probe)
	d.hold(d.queue...)
}

// hold tells sessions that wait for a lease how the paused provider keeps them waiting: what they may hold is bounded.
// From the time when it may be probed it keeps nobody waiting, until it has failed again.
func (d *dispatcher) hold(ws ...want) {
	for _, w := range ws {
		d.sys.root.Send(w.holder, holding{since: d.since, until: d.pause.Until})
	}
}

// append records a ruling and applies it. An error leaves it in force for this life: the log has failed then, and the
// daemon ends.
func (d *dispatcher) append(e events.Event, turn events.ID) {
	draft := d.sys.draft(e, turn)
	if _, err := eventlog.AppendEnd(context.Background(), d.sys.cfg.Log, d.stream(), draft); err != nil {
		d.sys.cfg.Logger.Error("cannot record the provider's state", "provider", d.sys.cfg.Providers[0].Name(), "err", err)
	}
	d.evolve(e, draft.OccurredAt)
}

// grant hands out what is free: everything while the provider is open, one probe at a time when its pause is over.
func (d *dispatcher) grant(c actor.Context) {
	now := d.sys.cfg.Now()
	for len(d.used) < d.sys.cfg.Slots {
		if d.pause.Paused() && (d.probing != "" || !d.pause.ProbeDue(now)) {
			d.wakeAt(c, d.pause.Until, now)
			return
		}
		i := d.eligible(c, now)
		if i < 0 {
			return
		}
		w := d.queue[i]
		d.queue = slices.Delete(d.queue, i, i+1)
		d.used[w.holder.Id] = true
		if d.pause.Paused() {
			d.probing = w.holder.Id
		}
		c.Send(w.holder, granted{})
	}
}

// eligible returns who is served next; -1: nobody. While only probes are granted and no quarantined session owes one, any
// session is tried, ever more rarely: one of them has to find out when the fault is over.
func (d *dispatcher) eligible(c actor.Context, now time.Time) int {
	i := slices.IndexFunc(d.queue, func(w want) bool { return w.probe || !d.degraded })
	if i >= 0 || len(d.queue) == 0 {
		return i
	}
	if now.Before(d.trial) {
		d.wakeAt(c, d.trial, now)
		return -1
	}
	d.nextTrial()
	return 0
}

func (d *dispatcher) wakeAt(c actor.Context, at, now time.Time) {
	if d.timer != nil {
		d.timer.Stop()
	}
	if wait := at.Sub(now); wait > 0 {
		self, root := c.Self(), d.sys.root
		d.timer = time.AfterFunc(wait, func() { root.Send(self, wakeQueue{}) })
	}
}

func (d *dispatcher) status() Status {
	p := Paused{Paused: d.pause.Rests(d.sys.cfg.Now()), Class: d.pause.Class, Until: d.pause.Until, Probe: d.pause.Probe}
	return Status{
		Turns: len(d.used), Queued: len(d.queue), Slots: d.sys.cfg.Slots, Degraded: d.degraded,
		Providers: map[string]Paused{d.sys.cfg.Providers[0].Name(): p},
	}
}
