package provider

import (
	"errors"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

const (
	// LoadLimit is how long reading what was spent may take: it waits for views that follow the log by milliseconds.
	LoadLimit = 5 * time.Second
	// loadGrace is how long beyond that a reading may take that does not heed its context.
	loadGrace = time.Second
	// lookAgain is how often a session is notified anew that its own limit is reached, which nothing but a new start raises.
	lookAgain = time.Hour
)

// Spend is what a turn used.
type Spend struct {
	Session events.SessionID
	At      time.Time // when it ended
	Tokens  int64     // input and output
	USD     float64
}

// Question asks what was spent since From by one session or, where Session is nil, by all.
type Question struct {
	From    time.Time
	Session *events.SessionID
	number  int
}

// Spending is the answer to a Question.
type Spending struct {
	Question Question
	Tokens   int64
	USD      float64
	Err      error
}

// BudgetNews is what a person should hear of the budget: a limit that was come near to or reached, or that what was spent
// cannot be told.
type BudgetNews struct {
	Ruling  policy.BudgetRuling
	Session *events.SessionID // whose limit it is; nil: the day's
	Err     error             // not nil: what was spent cannot be told
	AgainIn time.Duration     // of Err: when it is tried again
}

// Ledger is what was used of the budget: of the day's, and of each session's that asks for a turn. What happened before is
// read once; what happens is added as it ends. Turns that are out count when they end, so that a limit may be passed by as
// many of them as there are slots. A nil Ledger keeps no turn from being asked. It is not safe for concurrent use.
type Ledger struct {
	budget   policy.Budget
	from, to time.Time // the day
	day      *account
	sessions map[events.SessionID]*account
	asked    *account  // being read; nil: none is
	number   int       // of the question
	due      time.Time // when its answer is given up
	news     []BudgetNews
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

func newLedger(budget policy.Budget, now time.Time) *Ledger {
	l := &Ledger{budget: budget, day: &account{}, sessions: map[events.SessionID]*account{}}
	l.from, l.to = policy.Day(now)
	return l
}

// ofDay and ofSession are the limits of either kind alone.
func (l *Ledger) ofDay() policy.Budget {
	return policy.Budget{TokensDay: l.budget.TokensDay, USDDay: l.budget.USDDay}
}

func (l *Ledger) ofSession() policy.Budget {
	return policy.Budget{TokensSession: l.budget.TokensSession, USDSession: l.budget.USDSession}
}

// account returns that of a session, unknown at first.
func (l *Ledger) account(id events.SessionID) *account {
	a := l.sessions[id]
	if a == nil {
		a = &account{session: &id}
		l.sessions[id] = a
	}
	return a
}

// Roll begins a new day if the one at hand is over, and reports whether it did. Sessions are forgotten with the day and read
// again when they ask, but for those that may not go on: since when is nowhere else. A clock that was set back into an
// earlier day leaves nothing known.
func (l *Ledger) Roll(now time.Time) bool {
	if !now.Before(l.from) && now.Before(l.to) {
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
func (l *Ledger) add(s Spend, now time.Time) {
	if s.Tokens == 0 && s.USD == 0 {
		return
	}
	l.Roll(now)
	if !s.At.Before(l.from) {
		l.addTo(l.day, s, now)
	}
	if a := l.sessions[s.Session]; a != nil {
		l.addTo(a, s, now)
	}
}

func (l *Ledger) addTo(a *account, s Spend, now time.Time) {
	a.tokens, a.usd, a.stale = a.tokens+s.Tokens, a.usd+s.USD, true
	l.review(a, now)
}

// distrust has everything read again: a turn ended whose cost is not known.
func (l *Ledger) distrust() {
	l.day.known, l.day.stale = false, true
	for _, a := range l.sessions {
		a.known, a.stale = false, true
	}
}

// ruling is what the limits have to say that a is held against.
func (l *Ledger) ruling(a *account) policy.BudgetRuling {
	if a.session == nil {
		return l.ofDay().Decide(policy.Spent{TokensDay: a.tokens, USDDay: a.usd}, l.to)
	}
	return l.ofSession().Decide(policy.Spent{TokensSession: a.tokens, USDSession: a.usd}, l.to)
}

// review sees whether a limit was come near to, or reached, and says so once.
func (l *Ledger) review(a *account, now time.Time) {
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
	l.news = append(l.news, BudgetNews{Ruling: r, Session: a.session})
}

// News returns what there is to hear since the last call.
func (l *Ledger) News() []BudgetNews {
	news := l.news
	l.news = nil
	return news
}

// barrier is what the budget has against a turn of a session that costs something.
func (l *Ledger) barrier(id events.SessionID, now time.Time) Barrier {
	b := l.dayBarrier(now)
	if l == nil || l.ofSession().None() {
		return b
	}
	return b.and(l.barrierOf(l.account(id), now))
}

// dayBarrier is the same for any session.
func (l *Ledger) dayBarrier(now time.Time) Barrier {
	if l == nil || l.ofDay().None() {
		return Barrier{}
	}
	return l.barrierOf(l.day, now)
}

// barrierOf is what a has against a turn. While it is read for the first time nobody is said to be held.
func (l *Ledger) barrierOf(a *account, now time.Time) Barrier {
	switch {
	case !a.known:
		failing := !a.failing.IsZero()
		return Barrier{Closed: true, ReadingSpending: !failing, Held: failing, Budget: true, Since: a.failing, Until: a.again}
	case a.state != policy.BudgetSpent:
		return Barrier{}
	case a.session == nil:
		return Barrier{Closed: true, Held: true, Budget: true, Since: a.spent, Until: l.to}
	}
	return Barrier{Closed: true, Held: true, Budget: true, Since: a.spent, Until: a.lookAgain(now)}
}

func (a *account) lookAgain(now time.Time) time.Time {
	return a.spent.Add((max(0, now.Sub(a.spent))/lookAgain + 1) * lookAgain)
}

// accountsOf are the accounts that decide about those that wait, and the day's in any case.
func (l *Ledger) accountsOf(queue []Request) (all []*account) {
	if !l.ofDay().None() {
		all = append(all, l.day)
	}
	if !l.ofSession().None() {
		for _, r := range queue {
			all = append(all, l.account(r.Session))
		}
	}
	return all
}

// next returns the account that is to be read now; nil: none, or one is being read.
func (l *Ledger) next(queue []Request, now time.Time) *account {
	if l.asked != nil && !now.Before(l.due) {
		l.Loaded(Spending{Question: Question{number: l.number}, Err: errors.New("no answer in time")}, now)
	}
	if l.asked != nil {
		return nil
	}
	for _, a := range l.accountsOf(queue) {
		if !a.known && !now.Before(a.again) {
			return a
		}
	}
	return nil
}

// nextChange returns when the ledger has something to do, or says something else, though no turn ends.
func (l *Ledger) nextChange(queue []Request, now time.Time) (at time.Time) {
	if l.asked != nil {
		at = l.due
	}
	if len(queue) > 0 && !l.budget.None() {
		at = policy.Earlier(at, l.to)
	}
	for _, a := range l.accountsOf(queue) {
		switch {
		case !a.known && l.asked == nil:
			at = policy.Earlier(at, a.again)
		case a.known && a.session != nil && a.state == policy.BudgetSpent:
			at = policy.Earlier(at, a.lookAgain(now))
		}
	}
	return at
}

// Ask returns what is to be read now, and handed to Loaded; ok is false where there is nothing, or something is being read.
func (l *Ledger) Ask(queue []Request, now time.Time) (q Question, ok bool) {
	a := l.next(queue, now)
	if a == nil {
		return Question{}, false
	}
	l.number++
	l.asked, l.due, a.stale = a, now.Add(LoadLimit+loadGrace), false
	q = Question{Session: a.session, number: l.number}
	if a.session == nil {
		q.From = l.from
	}
	return q, true
}

// Loaded takes what an account was read as. It is read again where something was added meanwhile, and where it failed, later
// and later.
func (l *Ledger) Loaded(m Spending, now time.Time) {
	if m.Question.number != l.number || l.asked == nil {
		return
	}
	a := l.asked
	l.asked = nil
	switch {
	case m.Err != nil:
		a.tries++
		wait := policy.Backoff{First: time.Second, Cap: time.Minute}.Nth(a.tries)
		a.again = now.Add(wait)
		if a.failing.IsZero() {
			a.failing = now.Round(0)
		}
		l.news = append(l.news, BudgetNews{Err: m.Err, AgainIn: wait})
	case a.stale:
		a.again = now
	default:
		a.tokens, a.usd, a.known = m.Tokens, m.USD, true
		a.tries, a.failing, a.again = 0, time.Time{}, time.Time{}
		l.review(a, now)
	}
}

// BudgetStatus is what is left of the budget. A session counts from its first turn in this life of the daemon on.
type BudgetStatus struct {
	State  policy.BudgetState `json:"state"`           // the worst of its limits
	Limit  string             `json:"limit,omitempty"` // the setting that says so; empty where State is policy.BudgetFree
	Part   float64            `json:"part,omitempty"`  // of it, that is used; 1 is all
	Until  time.Time          `json:"until,omitzero"`  // when it is free again; zero: not before somebody raises it
	Known  bool               `json:"known"`           // whether what was used today is; until then nothing that costs is asked
	Held   int                `json:"held"`            // sessions that wait because of it
	Limits []BudgetLimit      `json:"limits"`          // those that are set
}

// BudgetLimit is one limit and what is used of it: of that of a session, what the session that used most has used.
type BudgetLimit struct {
	Name    string            `json:"name"` // of the setting
	Limit   float64           `json:"limit"`
	Used    float64           `json:"used"`
	Session *events.SessionID `json:"session,omitempty"` // that used it; nil for a day's
}

// DayLimit is the limit of the day that is reached; empty: none is, or there is no budget.
func (b *BudgetStatus) DayLimit() string {
	if b == nil {
		return ""
	}
	for _, l := range b.Limits {
		if (l.Name == policy.LimitTokensDay || l.Name == policy.LimitUSDDay) && l.Used >= l.Limit {
			return l.Name
		}
	}
	return ""
}

// Status says what is left, without who is held; nil: there is no budget.
func (l *Ledger) Status() *BudgetStatus {
	if l.budget.None() {
		return nil
	}
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
