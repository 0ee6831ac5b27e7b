package server

import (
	"fmt"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/order"
	"github.com/cmemd/cmemd/projections/health"
)

// FindBudget is the kind of a Finding that a budget holds inputs back.
const FindBudget health.FindingKind = "budget"

// Findings lists what is not well at now, the gravest first: what the views know of the last day, beside who is asked now.
// A provider that another one stands in for is only worth knowing, however long it rests. Dates are in now's zone.
func Findings(h api.Health, st provider.Status, now time.Time) []api.Finding {
	found := h.Findings(now)
	for i := range found {
		if f := &found[i]; f.What == health.FindHeld && st.InUse != "" && st.InUse != f.Provider {
			f.Degraded = false
			f.Says += "; " + st.InUse + " is asked instead"
		}
	}
	if f, ok := budgetFinding(st, now); ok {
		found = append(found, f)
	}
	order.By(found, func(a, b api.Finding) int { return severityRank(a) - severityRank(b) })
	return found
}

// severityRank puts what counts as degraded first, and then what holds inputs back though nothing failed.
func severityRank(f api.Finding) int {
	switch {
	case f.Degraded:
		return 0
	case f.What == FindBudget:
		return 1
	}
	return 2
}

// budgetFinding tells a budget that is used up: that of the day as long as it lasts, that of sessions while some wait.
func budgetFinding(st provider.Status, now time.Time) (f api.Finding, ok bool) {
	b := st.Budget
	if b == nil || b.State != policy.BudgetSpent || b.Until.IsZero() && b.Held == 0 {
		return f, false
	}
	f = api.Finding{What: FindBudget, Count: int64(b.Held), At: now, Until: b.Until}
	f.Says = fmt.Sprintf("%s is used up (%s)", b.Limit, usedLine(b))
	switch {
	case b.Until.IsZero():
		f.Says += fmt.Sprintf(": what %s captured is held until it is raised", number.Plural(b.Held, "session"))
	case st.InUse != "":
		f.Says += fmt.Sprintf(" until %s; %s, which costs nothing, is asked instead", b.Until.In(now.Location()).Format("2006-01-02 15:04"), st.InUse)
	default:
		f.Says += fmt.Sprintf(": what is captured is held until %s", b.Until.In(now.Location()).Format("2006-01-02 15:04"))
	}
	f.Do = fmt.Sprintf("raise it (`cmemd config set %s ...`), then `cmemd restart`; nothing is lost meanwhile", b.Limit)
	return f, true
}

// usedLine says how much of the limit that is reached is used.
func usedLine(b *provider.BudgetStatus) string {
	for _, l := range b.Limits {
		if l.Name == b.Limit {
			return UsedOf(l)
		}
	}
	return fmt.Sprintf("%.0f %%", 100*b.Part)
}

// UsedOf writes how much of a limit is used, in US dollars to the cent, or in tokens.
func UsedOf(l provider.BudgetLimit) string {
	if l.Name == policy.LimitUSDDay || l.Name == policy.LimitUSDSession {
		return fmt.Sprintf("$%.2f of $%.2f", l.Used, l.Limit)
	}
	return fmt.Sprintf("%.0f of %.0f tokens", l.Used, l.Limit)
}
