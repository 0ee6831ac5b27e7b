package actors

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

const (
	// loadLimit is how long Config.Spent may take: it waits for views that follow the log by milliseconds.
	loadLimit = 5 * time.Second
	// loadGrace is how long beyond that one may take that does not heed its context.
	loadGrace = time.Second
	// lookAgain is how often a session is told anew that its own limit is reached, which nothing but a new start raises.
	lookAgain = time.Hour
)

// spend is what a turn used.
type spend struct {
	session events.SessionID
	at      time.Time // when it ended
	tokens  int64
	usd     float64
}

// spending is what Config.Spent said.
type spending struct {
	number int // of the question
	tokens int64
	usd    float64
	err    error
}

// ledger is what was used of the budget: of the day's, and of each session's that asks for a turn. What happened before is
// read once; what happens is added as it ends. Turns that are out count when they end, so that a limit may be passed by as
// many of them as there are slots. A nil ledger stands for no budget. It belongs to the dispatcher's goroutine.
type ledger struct {
	sys      *System
	budget   policy.Budget
	from, to time.Time // the day
	day      *account
	sessions map[events.SessionID]*account
	asked    *account  // being read; nil: none is
	number   int       // of the question
	due      time.Time // when its answer is given up
}

// account is what one limit of each kind is held against.
type account struct {
	session *events.SessionID // nil: the day's
	tokens  int64
	usd     float64
	known   bool
	stale   bool               // something was added while it was read: it is in what is read, or not
	tries   int                // in a row that failed
	again   time.Time          // when to read it
	failing time.Time          // since when it cannot be read
	state   policy.BudgetState // as far as it is known
	spent   time.Time          // since when state is policy.BudgetSpent
}

func newLedger(sys *System) *ledger {
	if sys.cfg.Budget.None() {
		return nil
	}
	l := &ledger{sys: sys, budget: sys.cfg.Budget, day: &account{}, sessions: map[events.SessionID]*account{}}
	l.from, l.to = policy.Day(sys.cfg.Now())
	return l
}

// ofDay and ofSession are the limits of either kind alone.
func (l *ledger) ofDay() policy.Budget {
	return policy.Budget{TokensDay: l.budget.TokensDay, USDDay: l.budget.USDDay}
}

func (l *ledger) ofSession() policy.Budget {
	return policy.Budget{TokensSession: l.budget.TokensSession, USDSession: l.budget.USDSession}
}

// account returns that of a session, unknown at first.
func (l *ledger) account(id events.SessionID) *account {
	a := l.sessions[id]
	if a == nil {
		a = &account{session: &id}
		l.sessions[id] = a
	}
	return a
}

// roll begins a new day if the one at hand is over, and reports whether it did. Sessions are forgotten with the day and read
// again when they ask, but for those that may not go on: since when is nowhere else. A clock that was set back into an
// earlier day leaves nothing known.
func (l *ledger) roll(now time.Time) bool {
	if l == nil || !now.Before(l.from) && now.Before(l.to) {
		return false
	}
	forward := !now.Before(l.to)
	l.from, l.to = policy.Day(now)
	l.day = &account{known: forward}
	for id, a := range l.sessions {
		if a.spent.IsZero() {
			delete(l.sessions, id)
		}
	}
	return true
}

// add takes what a turn used.
func (l *ledger) add(s spend) {
	if l == nil || s.tokens == 0 && s.usd == 0 {
		return
	}
	now := l.sys.cfg.Now()
	l.roll(now)
	if !s.at.Before(l.from) {
		l.addTo(l.day, s, now)
	}
	if a := l.sessions[s.session]; a != nil {
		l.addTo(a, s, now)
	}
}

func (l *ledger) addTo(a *account, s spend, now time.Time) {
	a.tokens, a.usd, a.stale = a.tokens+s.tokens, a.usd+s.usd, true
	l.review(a, now)
}

// distrust has everything read again: a turn ended of which nobody told what it cost.
func (l *ledger) distrust() {
	if l == nil {
		return
	}
	l.day.known, l.day.stale = false, true
	for _, a := range l.sessions {
		a.known, a.stale = false, true
	}
}

// ruling is what the limits have to say that a is held against.
func (l *ledger) ruling(a *account) policy.BudgetRuling {
	if a.session == nil {
		return l.ofDay().Judge(policy.Spent{TokensDay: a.tokens, USDDay: a.usd}, l.to)
	}
	return l.ofSession().Judge(policy.Spent{TokensSession: a.tokens, USDSession: a.usd}, l.to)
}

// review sees whether a limit was come near to, or reached, and says so once.
func (l *ledger) review(a *account, now time.Time) {
	if !a.known {
		return
	}
	r := l.ruling(a)
	if r.State == policy.BudgetSpent && a.spent.IsZero() {
		a.spent = now.Round(0)
	}
	if r.State == a.state || r.State == policy.BudgetFree {
		a.state = r.State
		return
	}
	a.state = r.State
	said := []any{"limit", r.Limit, "part", r.Part}
	if a.session != nil {
		said = append(said, "session", *a.session)
	}
	if r.State == policy.BudgetWarn {
		l.sys.cfg.Logger.Warn("a budget is nearly used up", said...)
		return
	}
	if !r.Until.IsZero() {
		said = append(said, "until", r.Until)
	}
	l.sys.cfg.Logger.Warn("a budget is used up; what would cost more is held", said...)
}

// barrier is what the budget has against a turn of a session that costs something.
func (l *ledger) barrier(id events.SessionID, now time.Time) barrier {
	b := l.dayBarrier(now)
	if l == nil || l.ofSession().None() {
		return b
	}
	return b.and(l.barrierOf(l.account(id), now))
}

// dayBarrier is the same for any session.
func (l *ledger) dayBarrier(now time.Time) barrier {
	if l == nil || l.ofDay().None() {
		return barrier{}
	}
	return l.barrierOf(l.day, now)
}

// barrierOf is what a has against a turn. While it is read for the first time nobody is said to be held.
func (l *ledger) barrierOf(a *account, now time.Time) barrier {
	switch {
	case !a.known:
		failing := !a.failing.IsZero()
		return barrier{closed: true, reading: !failing, held: failing, budget: true, since: a.failing, until: a.again}
	case a.state != policy.BudgetSpent:
		return barrier{}
	case a.session == nil:
		return barrier{closed: true, held: true, budget: true, since: a.spent, until: l.to}
	}
	return barrier{closed: true, held: true, budget: true, since: a.spent, until: a.lookAgain(now)}
}

func (a *account) lookAgain(now time.Time) time.Time {
	return a.spent.Add((max(0, now.Sub(a.spent))/lookAgain + 1) * lookAgain)
}

// needed are the accounts that decide about those that wait, and the day's in any case.
func (l *ledger) needed(queue []want) (all []*account) {
	if !l.ofDay().None() {
		all = append(all, l.day)
	}
	if !l.ofSession().None() {
		for _, w := range queue {
			all = append(all, l.account(w.session))
		}
	}
	return all
}

// next returns the account that is to be read now; nil: none, or one is being read.
func (l *ledger) next(queue []want, now time.Time) *account {
	if l.asked != nil && !now.Before(l.due) {
		l.loaded(spending{number: l.number, err: errors.New("no answer in time")}, now)
	}
	if l.asked != nil {
		return nil
	}
	for _, a := range l.needed(queue) {
		if !a.known && !now.Before(a.again) {
			return a
		}
	}
	return nil
}

// changes returns when the ledger has something to do, or says something else, though no turn ends.
func (l *ledger) changes(queue []want, now time.Time) (at time.Time) {
	if l == nil {
		return time.Time{}
	}
	if l.asked != nil {
		at = l.due
	}
	if len(queue) > 0 {
		at = earlier(at, l.to)
	}
	for _, a := range l.needed(queue) {
		switch {
		case !a.known && l.asked == nil:
			at = earlier(at, a.again)
		case a.known && a.session != nil && a.state == policy.BudgetSpent:
			at = earlier(at, a.lookAgain(now))
		}
	}
	return at
}

// load has the next account read, in the background.
func (d *dispatcher) load(c actor.Context, now time.Time) {
	l := d.ledger
	if l == nil {
		return
	}
	a := l.next(d.queue, now)
	if a == nil {
		return
	}
	l.number++
	l.asked, l.due, a.stale = a, now.Add(loadLimit+loadGrace), false
	number, session, from := l.number, a.session, time.Time{}
	if session == nil {
		from = l.from
	}
	self, sys := c.Self(), d.sys
	sys.turns.Go(func() { sys.root.Send(self, sys.spent(number, from, session)) })
}

// spent asks what was used. A panic is an error: it is nothing that the dispatcher could mend.
func (s *System) spent(number int, from time.Time, session *events.SessionID) (m spending) {
	m.number = number
	defer func() {
		if r := recover(); r != nil {
			m.err = fmt.Errorf("panic: %v", r)
		}
	}()
	ctx, cancel := context.WithTimeout(s.ending, loadLimit)
	defer cancel()
	m.tokens, m.usd, m.err = s.cfg.Spent(ctx, from, session)
	return m
}

// loaded takes what an account was read as. It is read again where something was added meanwhile, and where it failed, later
// and later.
func (l *ledger) loaded(m spending, now time.Time) {
	if l == nil || m.number != l.number || l.asked == nil {
		return
	}
	a := l.asked
	l.asked = nil
	switch {
	case m.err != nil:
		a.tries++
		wait := policy.Backoff{First: time.Second, Cap: time.Minute}.Nth(a.tries)
		a.again = now.Add(wait)
		if a.failing.IsZero() {
			a.failing = now.Round(0)
		}
		l.sys.cfg.Logger.Error("cannot tell what was spent; until it is known, what would cost something is held", "err", m.err, "again_in", wait)
	case a.stale:
		a.again = now
	default:
		a.tokens, a.usd, a.known = m.tokens, m.usd, true
		a.tries, a.failing, a.again = 0, time.Time{}, time.Time{}
		l.review(a, now)
	}
}

// status says what is left.
func (l *ledger) status() *BudgetStatus {
	st := &BudgetStatus{State: policy.BudgetFree, Known: l.day.known || l.ofDay().None()}
	worst := l.ruling(l.day)
	most := policy.Spent{TokensDay: l.day.tokens, USDDay: l.day.usd}
	var tokens, usd *events.SessionID
	for _, a := range l.sessions {
		if r := l.ruling(a); r.Outranks(worst) {
			worst = r
		}
		if a.tokens > most.TokensSession {
			most.TokensSession, tokens = a.tokens, a.session
		}
		if a.usd > most.USDSession {
			most.USDSession, usd = a.usd, a.session
		}
	}
	st.State, st.Limit, st.Part, st.Until = worst.State, worst.Limit, worst.Part, worst.Until
	for _, b := range []BudgetLimit{
		{policy.LimitTokensDay, float64(l.budget.TokensDay), float64(most.TokensDay), nil},
		{policy.LimitTokensSession, float64(l.budget.TokensSession), float64(most.TokensSession), tokens},
		{policy.LimitUSDDay, l.budget.USDDay, most.USDDay, nil},
		{policy.LimitUSDSession, l.budget.USDSession, most.USDSession, usd},
	} {
		if b.Limit > 0 {
			st.Limits = append(st.Limits, b)
		}
	}
	return st
}
