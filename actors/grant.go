package actors

import (
	"context"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/provider"
)

// grant hands out what is free, tells those that wait what they wait for, and sees to it that it is asked again when that
// changes by time alone.
func (d *dispatcher) grant(c actor.Context) {
	now := d.sys.cfg.Now()
	d.holdStatusStale = d.pool.Ledger.Roll(now) || d.holdStatusStale
	for {
		g, ok := d.pool.Next(now)
		if !ok {
			break
		}
		d.send(c, g)
	}
	if d.holdStatusStale {
		for _, r := range d.pool.Queue() {
			d.sendHoldStatus(r.Holder, now)
		}
		d.holdStatusStale = false
	}
	d.readSpending(c, now)
	d.logBudget()
	d.wakeAt(c, d.pool.NextChange(now), now)
}

// send gives a lease to who waits for it, and says when another provider is asked than before.
func (d *dispatcher) send(c actor.Context, g provider.Grant) {
	w := d.waiting[g.Request.Holder]
	delete(d.waiting, g.Request.Holder)
	if g.PreviousProvider != "" {
		d.sys.cfg.Logger.Warn("another provider is asked",
			"provider", g.Lease.Candidate.Provider, "before", g.PreviousProvider, "passed_over", g.Lease.Instead)
	}
	c.Send(w.holder, granted{g.Lease})
}

// sendHoldStatus says to a session that waits for a lease since when nobody may be asked for it, and when somebody may be: what it
// may hold meanwhile is bounded.
func (d *dispatcher) sendHoldStatus(holder string, now time.Time) {
	b, w := d.pool.BarrierOf(holder, now), d.waiting[holder]
	var said holdStatus
	if b.Held {
		said = holdStatus{since: b.Since, until: b.Until}
	}
	if said != w.sent {
		w.sent = said
		d.sys.root.Send(w.holder, said)
	}
}

// clockEvery is how long the dispatcher waits at most before it looks at the clock again. A timer stands still while the machine sleeps,
// and knows nothing of a clock that is set: without this, what is paused until a time could go on hours after it.
const clockEvery = time.Minute

func (d *dispatcher) wakeAt(c actor.Context, at, now time.Time) {
	next := time.Time{}
	if at.After(now) {
		next = policy.Earlier(at, now.Add(clockEvery))
	}
	d.alarm.set(next, now, d.sys.root, c.Self(), wakeQueue{})
}

// readSpending has what the ledger asks for read, in the background.
func (d *dispatcher) readSpending(c actor.Context, now time.Time) {
	q, ok := d.pool.Ledger.Ask(d.pool.Queue(), now)
	if !ok {
		return
	}
	self, sys := c.Self(), d.sys
	sys.begin(func(ctx context.Context) { sys.root.Send(self, sys.spent(ctx, q)) })
}

// spent asks what was used. A panic is an error: it is nothing that the dispatcher could mend.
func (s *System) spent(ctx context.Context, q provider.Question) (m provider.Spending) {
	m.Question = q
	defer func() {
		if r := recover(); r != nil {
			m.Err = fmt.Errorf("panic: %v", r)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, provider.LoadLimit)
	defer cancel()
	m.Tokens, m.USD, m.Err = s.cfg.Spent(ctx, q.From, q.Session)
	return m
}

// logBudget says what a person should hear of the budget.
func (d *dispatcher) logBudget() {
	logger := d.sys.cfg.Logger
	for _, n := range d.pool.Ledger.News() {
		if n.Err != nil {
			logger.Error("cannot tell what was spent; until it is known, what would cost something is held", "err", n.Err, "again_in", n.AgainIn)
			continue
		}
		said := []any{"limit", n.Ruling.Limit, "part", n.Ruling.Part}
		if n.Session != nil {
			said = append(said, "session", *n.Session)
		}
		if n.Ruling.State == policy.BudgetWarn {
			logger.Warn("a budget is nearly used up", said...)
			continue
		}
		if !n.Ruling.Until.IsZero() {
			said = append(said, "until", n.Ruling.Until)
		}
		logger.Warn("a budget is used up; what would cost more is held", said...)
	}
}

// status says how things stand.
func (d *dispatcher) status() provider.Status {
	now := d.sys.cfg.Now()
	d.holdStatusStale = d.pool.Ledger.Roll(now) || d.holdStatusStale
	return d.pool.Status(now)
}
