package api

import (
	"slices"
	"time"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/policy"
)

// providerStatus is every provider that is configured, in order.
func providerStatus(all []Provider, st actors.Status, now time.Time) []ProviderStatus {
	used := slices.IndexFunc(all, func(p Provider) bool { return !p.TierOnly && p.Name == st.InUse })
	out := []ProviderStatus{}
	for i, p := range all {
		one := ProviderStatus{Name: p.Name, Model: p.Model, State: ProviderReady, Tiers: p.Tiers, TierOnly: p.TierOnly}
		circuit := st.Providers[p.Name]
		until, spent := daySpent(st.Budget, now)
		switch {
		case circuit.Paused:
			one.State, one.Class, one.Until, one.Probe = ProviderPaused, circuit.Class, circuit.Until, circuit.Probe
		case spent && !p.Free:
			one.State, one.Until = ProviderBudget, until
		case circuit.Probe > 0:
			one.State, one.Class, one.Probe = ProviderTried, circuit.Class, circuit.Probe
		case i == used:
			one.State = ProviderInUse
		}
		one.PassedOver = i < used && !p.TierOnly
		out = append(out, one)
	}
	return out
}

// daySpent reports whether a limit of the day is reached, and when the day is over.
func daySpent(b *actors.BudgetStatus, now time.Time) (until time.Time, spent bool) {
	if b == nil {
		return time.Time{}, false
	}
	_, until = policy.Day(now)
	return until, slices.ContainsFunc(b.Limits, func(l actors.BudgetLimit) bool {
		return (l.Name == policy.LimitTokensDay || l.Name == policy.LimitUSDDay) && l.Used >= l.Limit
	})
}
