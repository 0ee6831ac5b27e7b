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
			return i, l
		}
		return d.yield(i, l, now)
	}
	return -1, lease{}
}

// yield returns who is served in the place of the i-th: where it would probe a provider that rests because turns failed by
// their own fault, and its own did, the next one that has not failed yet and would probe the same.
func (d *dispatcher) yield(i int, l lease, now time.Time) (int, lease) {
	if !l.need.blamed || !d.circuits[l.offer.Name()].pause.Blames() {
		return i, l
	}
	for j := i + 1; j < len(d.queue); j++ {
		w := d.queue[j]
		if w.need.blamed || d.degraded && !w.need.probe {
			continue
		}
		if other, b := d.choose(w, now); !b.closed && other.offer.Name() == l.offer.Name() {
			return j, other
		}
	}
	return i, l
}

// choose returns the lease that w would get now, for what it needs or, where nobody may be asked for that, for what it would
// do instead; or what stands between it and both.
func (d *dispatcher) choose(w want, now time.Time) (lease, barrier) {
	l, b := d.find(w, now)
	if !b.closed || b.reading || w.or == (need{}) {
		return l, b
	}
	w.need = w.or
	other, closed := d.find(w, now)
	if closed.closed && !closed.reading {
		closed = b.or(closed)
	}
	return other, closed
}

// find returns the lease for w.need, or what stands between it and all its candidates. Where all rest, what has not failed
// yet may probe at once who rests because of what has.
func (d *dispatcher) find(w want, now time.Time) (lease, barrier) {
	l, b := d.seek(w, now, false)
	if b.closed && !b.reading && !w.need.blamed {
		return d.seek(w, now, true)
	}
	return l, b
}

// seek is choose; alone says that there is no candidate that does not rest.
func (d *dispatcher) seek(w want, now time.Time, alone bool) (lease, barrier) {
	l := lease{need: w.need}
	var all barrier
	for i, o := range d.sys.cfg.candidates(w.need) {
		b := d.barrier(o, w, now, alone)
		if !b.closed {
			d.fill(&l, o, w, now)
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

// fill makes l a lease for o, and for whom may be asked instead.
func (d *dispatcher) fill(l *lease, o *Offer, w want, now time.Time) {
	l.offer, l.answered = o, d.circuits[o.Name()].answered
	t := d.sys.cfg.trivialFor(w.need)
	if t == nil || d.circuits[t.Name()].pause.Paused() || d.barrier(t, w, now, false).closed {
		return
	}
	l.trivial, l.trivialHas = t, d.circuits[t.Name()].answered
}

// barrier is what stands between w and one offer. If turns are blamed for its pause, one that has not failed yet goes to
// it at once where it is alone, and also where another could be asked, until one more has failed: the pause may be one bad
// input's doing.
func (d *dispatcher) barrier(o *Offer, w want, now time.Time, alone bool) barrier {
	p := d.circuits[o.Name()]
	b := p.barrier(now, !w.need.blamed && (alone || p.doubtful()))
	if !o.Free {
		rests := b.closed
		b = b.and(d.ledger.barrier(w.session, now))
		b.reading = b.reading && !rests
	}
	return b
}

func (d *dispatcher) lend(c actor.Context, w want, l lease) {
	w.need = l.need
	p := d.circuits[l.offer.Name()]
	d.used[w.holder.Id] = p.name
	p.take(w.holder.Id)
	d.notice(w, l, d.sys.cfg.Now())
	c.Send(w.holder, granted{l})
}

// notice says when another provider is asked than before. A probe, and what a person, a tier or the budget of one session
// asks for, are no such thing.
func (d *dispatcher) notice(w want, l lease, now time.Time) {
	ordinary := w.need.skip() == 0 && w.need.provider == "" && l.offer != d.sys.cfg.Summaries && !d.ownBudget(w, l, now)
	if name := l.offer.Name(); ordinary && name != d.inUse && !d.circuits[name].pause.Paused() {
		d.sys.cfg.Logger.Warn("another provider is asked", "provider", name, "before", d.inUse, "passed_over", l.instead)
		d.inUse = name
	}
}

// ownBudget reports whether l is for who stands in where another session would be asked of somebody before: only what the
// session of w has used itself is in the way.
func (d *dispatcher) ownBudget(w want, l lease, now time.Time) bool {
	for _, o := range d.sys.cfg.candidates(w.need) {
		if o == l.offer {
			break
		}
		p := d.circuits[o.Name()]
		if o != d.sys.cfg.Summaries && !o.Free && !d.ledger.dayBarrier(now).closed && !p.barrier(now, p.pause.Probe == 1).closed {
			return true
		}
	}
	return false
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
	st.InUse = d.wouldAsk(now)
	for _, w := range d.queue {
		if _, b := d.choose(w, now); b.held && b.budget && st.Budget != nil {
			st.Budget.Held++
		}
	}
	return st
}

// wouldAsk names whom an ordinary turn would be asked of now; empty: nobody may be.
func (d *dispatcher) wouldAsk(now time.Time) string {
	for _, alone := range []bool{false, true} {
		for i := range d.sys.cfg.Providers {
			o := &d.sys.cfg.Providers[i]
			p := d.circuits[o.Name()]
			if !p.barrier(now, alone || p.doubtful()).closed && (o.Free || !d.ledger.dayBarrier(now).closed) {
				return o.Name()
			}
		}
	}
	return ""
}
