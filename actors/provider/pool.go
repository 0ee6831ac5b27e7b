package provider

import (
	"slices"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// Config is what a Pool goes by.
type Config struct {
	Routes Routes
	Slots  int // turns at once
	Limits Limits
	Budget policy.Budget
}

// Pool is the providers with the slots and the queue. Sessions ask for a lease, one at a time each, and are served first
// come, first served: with the first of their candidates that may be asked. Who finds none waits, and keeps no other
// waiting that does. It is not safe for concurrent use.
type Pool struct {
	Providers
	slots    int
	limits   Limits
	queue    []Request
	leases   map[string]string // names of providers by holder
	inUse    string            // who was asked last where nothing special was wanted
	degraded bool              // only probes are granted, and now and then a trial
	trialAt  time.Time         // when any session may be tried, though none of the quarantined owes a probe
	trials   int
}

// NewPool returns a Pool of states, which are folded from the providers' streams, one for each name of the routes.
func NewPool(cfg Config, states map[string]*State, now time.Time) *Pool {
	return &Pool{
		Providers: Providers{Routes: cfg.Routes, States: states, Ledger: newLedger(cfg.Budget, now)},
		slots:     cfg.Slots, limits: cfg.Limits, leases: map[string]string{}, inUse: cfg.Routes.Providers[0].Provider,
	}
}

// Inherit takes from an earlier Pool of the same life what no log tells: who holds a lease and who probes, and what was spent.
// Who waits asks again.
func (p *Pool) Inherit(was *Pool) {
	p.leases, p.Ledger, p.inUse = was.leases, was.Ledger, was.inUse
	for name, s := range was.States {
		p.States[name].inherit(s)
	}
}

// Restart takes the start of a life: it ends the pauses that wait for a person.
func (p *Pool) Restart() {
	for _, s := range p.States {
		s.Restart()
	}
}

// Degrade begins or ends capturing only.
func (p *Pool) Degrade(on bool, now time.Time) {
	p.degraded, p.trials = on, 0
	p.nextTrial(now)
}

// Degraded reports whether only probes and trials are granted.
func (p *Pool) Degraded() bool { return p.degraded }

func (p *Pool) nextTrial(now time.Time) {
	p.trials++
	p.trialAt = now.Add(policy.DefaultQuarantine().Nth(p.trials))
}

// Ruling is an event for a provider's stream. Whoever records it gives it to Evolve then.
type Ruling struct {
	Provider string
	Event    events.Event
}

// Evolve applies a ruling that was recorded.
func (p *Pool) Evolve(r Ruling, h events.Header) { Evolve(p.States[r.Provider], h, r.Event) }

// Rule returns what c leads to for a provider; ok is false where that is nothing, or where the provider is none of the Pool's.
func (p *Pool) Rule(name string, c Command) (r Ruling, ok bool) {
	s := p.States[name]
	if s == nil {
		return Ruling{}, false
	}
	limits := p.limits
	if p.Routes.isFree(name) {
		limits.NoYield = nil
	}
	e := Decide(s, c, limits)
	return Ruling{name, e}, e != nil
}

// Enqueue queues a request. Who waits already wants something else, and keeps its place. A request of who holds a lease is not
// heeded: it came before the lease did.
func (p *Pool) Enqueue(r Request) {
	if _, ok := p.leases[r.Holder]; ok {
		return
	}
	if i := slices.IndexFunc(p.queue, func(have Request) bool { return have.Holder == r.Holder }); i >= 0 {
		p.queue[i] = r
		return
	}
	p.queue = append(p.queue, r)
}

// Holds reports whether a holder has a lease.
func (p *Pool) Holds(holder string) bool {
	_, ok := p.leases[holder]
	return ok
}

// Queue are those that wait, the longest first. The caller must not change it.
func (p *Pool) Queue() []Request { return p.queue }

// BarrierOf is what keeps the request of a holder in the queue from being served at now.
func (p *Pool) BarrierOf(holder string, now time.Time) Barrier {
	i := slices.IndexFunc(p.queue, func(r Request) bool { return r.Holder == holder })
	_, b := p.Choose(p.queue[i], now)
	return b
}

// Lose takes a lease back of which nobody says how it ended, and the holder out of the queue: what the turn cost is in the
// log alone.
func (p *Pool) Lose(holder string) {
	if p.Holds(holder) {
		p.Ledger.distrust()
	}
	p.release(holder)
}

// release takes a holder's lease back and the holder out of the queue, and reports whether it probed a provider.
func (p *Pool) release(holder string) (probed bool) {
	p.queue = slices.DeleteFunc(p.queue, func(r Request) bool { return r.Holder == holder })
	name, ok := p.leases[holder]
	if !ok {
		return false
	}
	delete(p.leases, holder)
	return p.States[name].free(holder)
}

// Switch lets another session probe whom a lease was for: all inputs of its turn are trivial, and another provider is asked.
func (p *Pool) Switch(holder, provider string) {
	name, ok := p.leases[holder]
	if !ok {
		return
	}
	p.States[name].free(holder)
	p.leases[holder] = provider
}

// End is the end of a lease: of its turn, or before there was one.
type End struct {
	Holder   string
	Received bool               // an output was
	At       events.Position    // of what was received
	Parsed   bool               // what was received is a success
	Use      Use                // what it was good for
	Turn     events.ID          // that it answers
	Failure  *events.TurnFailed // nil: the turn did not fail, or there was none
	Settled  bool               // of a failure: less is asked at once from now on, or its input was given up: nothing is left to blame
	Spend    Spend
	Crashed  bool // its holder did, so that nobody tells what became of its turn
}

// End takes a lease back, and returns the ruling that follows; ok is false where none does.
func (p *Pool) End(m End, now time.Time) (r Ruling, ok bool) {
	p.Ledger.add(m.Spend, now)
	name := p.leases[m.Holder]
	if m.Crashed {
		p.Lose(m.Holder)
	}
	probe := p.release(m.Holder)
	s := p.States[name]
	if s == nil {
		return Ruling{}, false
	}
	if f := m.Failure; f != nil {
		return p.failed(name, *f, m.Settled, probe, now)
	}
	if m.Received {
		s.RecordAnswer(m.At)
		s.RecordUse(m.Use, m.Spend.At)
	}
	return p.Rule(name, Answer{Parsed: m.Parsed, Probe: probe, Turn: m.Turn, Use: m.Use, At: now})
}

// failed rules on a failure, and counts one by the turn's own fault that leads to nothing.
func (p *Pool) failed(name string, f events.TurnFailed, settled, probe bool, now time.Time) (r Ruling, ok bool) {
	if f.Class.BlamesTurn() && settled {
		return Ruling{}, false
	}
	r, ok = p.Rule(name, Fail{Turn: f.Turn, Class: f.Class, ResetsAt: f.ResetsAt, At: now, Probe: probe})
	if !ok && f.Class.BlamesTurn() {
		p.States[name].Pause.Blamed++
	}
	return r, ok
}

// Grant is a lease and who gets it.
type Grant struct {
	Request          Request
	Lease            Lease
	PreviousProvider string // whom ordinary turns were asked of until now; empty: it stays so
}

// Next grants the next lease; ok is false where there is no slot, or nobody who waits may ask anybody. While only probes are
// granted and no quarantined session owes one, any session is tried, ever more rarely: one of them has to find out when
// the fault is over.
func (p *Pool) Next(now time.Time) (g Grant, ok bool) {
	if len(p.leases) >= p.slots {
		return Grant{}, false
	}
	i, l := p.first(now)
	if i < 0 {
		return Grant{}, false
	}
	g = Grant{Request: p.queue[i], Lease: l}
	p.queue = slices.Delete(p.queue, i, i+1)
	name := l.Candidate.Provider
	p.leases[g.Request.Holder] = name
	p.States[name].take(g.Request.Holder)
	if p.isUnforcedChoice(l, now) && name != p.inUse && !p.States[name].Pause.Paused() {
		g.PreviousProvider, p.inUse = p.inUse, name
	}
	return g, true
}

// isUnforcedChoice reports whether l is nothing that a person, a tier or the budget of one session asks for.
func (p *Pool) isUnforcedChoice(l Lease, now time.Time) bool {
	q := l.Requirement
	return q.providersToSkip() == 0 && q.Provider == "" && !p.Routes.isSummaryTier(l.Candidate) && !p.ownBudget(l, now)
}

// first returns who is served next, and with what; -1: nobody.
func (p *Pool) first(now time.Time) (int, Lease) {
	trial := p.degraded && !now.Before(p.trialAt) && !slices.ContainsFunc(p.queue, func(r Request) bool { return r.Requirement.Probe })
	for i, r := range p.queue {
		if p.degraded && !r.Requirement.Probe && !trial {
			continue
		}
		l, b := p.Choose(r, now)
		if b.Closed {
			continue
		}
		if trial {
			p.nextTrial(now)
			return i, l
		}
		return p.yieldToUntried(i, l, now)
	}
	return -1, Lease{}
}

// yieldToUntried returns who is served in the place of the i-th: where it would probe a provider that rests because turns failed by
// their own fault, and its own did, the next one that has not failed yet and would probe the same.
func (p *Pool) yieldToUntried(i int, l Lease, now time.Time) (int, Lease) {
	if !l.Requirement.Blamed || !p.States[l.Candidate.Provider].Pause.Blames() {
		return i, l
	}
	for j := i + 1; j < len(p.queue); j++ {
		r := p.queue[j]
		if r.Requirement.Blamed || p.degraded && !r.Requirement.Probe {
			continue
		}
		if other, b := p.Choose(r, now); !b.Closed && other.Candidate.Provider == l.Candidate.Provider {
			return j, other
		}
	}
	return i, l
}

// NextChange returns when those that wait may be served, or the ledger has something to do, though nothing happens; zero: never.
func (p *Pool) NextChange(now time.Time) (at time.Time) {
	if len(p.queue) > 0 {
		for _, s := range p.States {
			if s.Pause.Rests(now) {
				at = policy.Earlier(at, s.Pause.Until)
			}
		}
		if p.degraded && now.Before(p.trialAt) {
			at = policy.Earlier(at, p.trialAt)
		}
	}
	return policy.Earlier(at, p.Ledger.nextChange(p.queue, now))
}

// HeldByBudget is how many of those that wait are held by the budget.
func (p *Pool) HeldByBudget(now time.Time) (n int) {
	for _, r := range p.queue {
		if _, b := p.Choose(r, now); b.Held && b.Budget {
			n++
		}
	}
	return n
}
