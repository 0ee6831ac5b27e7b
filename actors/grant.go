package actors

import (
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// grant hands out what is free, tells those that wait what they wait for, and sees to it that it is asked again when that
// changes by time alone.
func (d *dispatcher) grant(c actor.Context) {
	now := d.sys.cfg.Now()
	d.stale = d.ledger.roll(now) || d.stale
	for len(d.used) < d.sys.cfg.Slots {
		i, l := d.first(now)
		if i < 0 {
			break
		}
		w := d.queue[i]
		d.queue = slices.Delete(d.queue, i, i+1)
		d.lend(c, w, l)
	}
	if d.stale {
		for i := range d.queue {
			d.tell(&d.queue[i], now)
		}
		d.stale = false
	}
	d.load(c, now)
	d.wakeAt(c, d.changes(now), now)
}

// first returns who is served next, and with what; -1: nobody. While only probes are granted and no quarantined session owes
// one, any session is tried, ever more rarely: one of them has to find out when the fault is over.
func (d *dispatcher) first(now time.Time) (int, lease) {
	trial := d.degraded && !now.Before(d.trial) && !slices.ContainsFunc(d.queue, func(w want) bool { return w.need.probe })
	for i, w := range d.queue {
		if d.degraded && !w.need.probe && !trial {
			continue
		}
		l, b := d.choose(w, now)
		if b.closed {
			continue
		}
		if trial {
			d.nextTrial()
		}
		return i, l
	}
	return -1, lease{}
}

// choose returns the lease that w would get now, or what stands between it and all its candidates.
func (d *dispatcher) choose(w want, now time.Time) (lease, barrier) {
	l := lease{need: w.need}
	var all barrier
	for i, o := range d.sys.cfg.candidates(w.need) {
		b := d.barrier(o, w, now)
		if !b.closed {
			l.offer = o
			if t := d.sys.cfg.trivialFor(w.need); t != nil && !d.barrier(t, w, now).closed && !d.circuits[t.Name()].pause.Paused() {
				l.trivial = t
			}
			return l, barrier{}
		}
		if b.reading {
			return lease{}, b // in a moment it is known whether o may be asked: whoever stands in for it is not asked till then
		}
		if i == 0 {
			all = b
		} else {
			all = all.or(b)
		}
		if !slices.Contains(l.instead, o.Name()) {
			l.instead = append(l.instead, o.Name())
		}
	}
	return lease{}, all
}

// barrier is what stands between w and one offer.
func (d *dispatcher) barrier(o *Offer, w want, now time.Time) barrier {
	b := d.circuits[o.Name()].barrier(now)
	if !o.Free {
		rests := b.closed
		b = b.and(d.ledger.barrier(w.session, now))
		b.reading = b.reading && !rests
	}
	return b
}

func (d *dispatcher) lend(c actor.Context, w want, l lease) {
	p := d.circuits[l.offer.Name()]
	d.used[w.holder.Id] = p.name
	p.take(w.holder.Id)
	d.notice(w, l)
	c.Send(w.holder, granted{l})
}

// notice says when another provider is asked than before. A probe, and what a person or a tier asks for, are no such thing.
func (d *dispatcher) notice(w want, l lease) {
	ordinary := !w.need.fresh && w.need.provider == "" && l.offer != d.sys.cfg.Summaries
	if name := l.offer.Name(); ordinary && name != d.inUse && !d.circuits[name].pause.Paused() {
		d.sys.cfg.Logger.Warn("another provider is asked", "provider", name, "before", d.inUse, "passed_over", l.instead)
		d.inUse = name
	}
}

// tell says to a session that waits for a lease since when nobody may be asked for it, and when somebody may be: what it
// may hold meanwhile is bounded.
func (d *dispatcher) tell(w *want, now time.Time) {
	var said holding
	if _, b := d.choose(*w, now); b.held {
		said = holding{since: b.since, until: b.until}
	}
	if said != w.told {
		w.told = said
		d.sys.root.Send(w.holder, said)
	}
}

// changes returns when those that wait may be served though nothing happens; zero: never.
func (d *dispatcher) changes(now time.Time) (at time.Time) {
	if len(d.queue) > 0 {
		for _, p := range d.circuits {
			if p.pause.Rests(now) {
				at = earlier(at, p.pause.Until)
			}
		}
		if d.degraded && now.Before(d.trial) {
			at = earlier(at, d.trial)
		}
	}
	return earlier(at, d.ledger.changes(d.queue, now))
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

// status says how things stand.
func (d *dispatcher) status() Status {
	now := d.sys.cfg.Now()
	st := Status{
		Turns: len(d.used), Queued: len(d.queue), Slots: d.sys.cfg.Slots, Degraded: d.degraded,
		Providers: map[string]Paused{}, Order: d.sys.cfg.names(),
	}
	for name, p := range d.circuits {
		st.Providers[name] = Paused{Paused: p.pause.Rests(now), Class: p.pause.Class, Until: p.pause.Until, Probe: p.pause.Probe}
	}
	if d.ledger != nil {
		d.stale = d.ledger.roll(now) || d.stale
		st.Budget = d.ledger.status()
	}
	for i := range d.sys.cfg.Providers {
		o := &d.sys.cfg.Providers[i]
		if d.circuits[o.Name()].barrier(now).closed || !o.Free && d.ledger.dayBarrier(now).closed {
			continue
		}
		st.InUse = o.Name()
		break
	}
	for _, w := range d.queue {
		if _, b := d.choose(w, now); b.held && b.budget && st.Budget != nil {
			st.Budget.Held++
		}
	}
	return st
}
