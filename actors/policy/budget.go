package policy

import "time"

// Budget is what the observer may cost. A limit of 0 is none.
type Budget struct {
	TokensDay     int64 // input and output, of all sessions, between two local midnights
	TokensSession int64 // of one session, ever
	USDDay        float64
	USDSession    float64
}

// Spent is what has been used of a Budget. Money counts as far as prices are known.
type Spent struct {
	TokensDay     int64
	TokensSession int64
	USDDay        float64
	USDSession    float64
}

// BudgetState is what a Budget has to say of another turn.
type BudgetState string

// The states, from the best to the worst.
const (
	BudgetFree  BudgetState = "free"  // nothing
	BudgetWarn  BudgetState = "warn"  // the turn may be asked; a person should know
	BudgetSpent BudgetState = "spent" // inputs are held
)

// budgetWarning is the part of a limit from which on a person is warned: early enough to raise it before work is held.
const budgetWarning = 0.8

// The limits by the names of their settings.
const (
	LimitTokensDay     = "budget_tokens_day"
	LimitTokensSession = "budget_tokens_session"
	LimitUSDDay        = "budget_usd_day"
	LimitUSDSession    = "budget_usd_session"
)

// BudgetRuling is what became of a Budget, and which of its limits says so.
type BudgetRuling struct {
	State BudgetState
	Limit string    // the limit that is used up most; empty where State is BudgetFree
	Part  float64   // of it, that is used; 1 is all
	Until time.Time // when it is free again; zero: not before somebody raises it
}

// Decide says whether another turn may be asked, where the day of spent.TokensDay and spent.USDDay ends at tomorrow. Of
// several limits that are reached, the one that holds for longer counts: that of a session, which no day frees. Otherwise
// it is the one that is used up most, of equal ones the first in the order of Budget's fields. A limit that is exactly
// reached is spent; below zero none can be.
func (b Budget) Decide(spent Spent, tomorrow time.Time) BudgetRuling {
	out := BudgetRuling{State: BudgetFree}
	for _, l := range []struct {
		name       string
		used, most float64
		until      time.Time
	}{
		{LimitTokensDay, float64(spent.TokensDay), float64(b.TokensDay), tomorrow},
		{LimitTokensSession, float64(spent.TokensSession), float64(b.TokensSession), time.Time{}},
		{LimitUSDDay, spent.USDDay, b.USDDay, tomorrow},
		{LimitUSDSession, spent.USDSession, b.USDSession, time.Time{}},
	} {
		if l.most <= 0 || l.used < budgetWarning*l.most {
			continue
		}
		r := BudgetRuling{State: BudgetWarn, Limit: l.name, Part: l.used / l.most, Until: l.until}
		if l.used >= l.most {
			r.State = BudgetSpent
		}
		if r.Outranks(out) {
			out = r
		}
	}
	return out
}

// Outranks reports whether r is what a person should hear of rather than other: the worse state, then what holds for longer,
// then what is used up most.
func (r BudgetRuling) Outranks(other BudgetRuling) bool {
	switch {
	case r.State != other.State:
		return r.State == BudgetSpent || other.State == BudgetFree
	case r.State == BudgetSpent && r.Until.IsZero() != other.Until.IsZero():
		return r.Until.IsZero()
	}
	return r.Part > other.Part
}

// None reports whether b limits nothing.
func (b Budget) None() bool { return b == Budget{} }

// Day is the day of t where t's clock hangs: from its first instant to that of the next one. It is 23 or 25 hours long where
// clocks are set forward or back, and begins after midnight where they skip it.
func Day(t time.Time) (from, to time.Time) {
	y, m, d := t.Date()
	return firstOf(y, m, d, t.Location()), firstOf(y, m, d+1, t.Location())
}

// firstOf is the first instant of a day. Where a clock skips midnight, time.Date may give an instant of the day before.
func firstOf(y int, m time.Month, d int, in *time.Location) time.Time {
	noon := time.Date(y, m, d, 12, 0, 0, 0, in)
	t := time.Date(y, m, d, 0, 0, 0, 0, in)
	if t.Day() == noon.Day() {
		return t
	}
	_, end := t.ZoneBounds()
	return end
}
