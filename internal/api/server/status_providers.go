package server

import (
	"slices"
	"time"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/internal/api"
)

// providerStatus is every provider that is configured, in order.
func providerStatus(all []api.Provider, st actors.Status, now time.Time) []api.ProviderStatus {
	used := slices.IndexFunc(all, func(p api.Provider) bool { return !p.TierOnly && p.Name == st.InUse })
	out := []api.ProviderStatus{}
	for i, p := range all {
		one := api.ProviderStatus{Name: p.Name, Model: p.Model, State: api.ProviderReady, Tiers: p.Tiers, TierOnly: p.TierOnly}
		circuit := st.Providers[p.Name]
		until, spent := daySpent(st.Budget, now)
		switch {
		case circuit.Paused:
			one.State, one.Class, one.Until, one.Probe = api.ProviderPaused, circuit.Class, circuit.Until, circuit.Probe
		case spent && !p.Free:
			one.State, one.Until = api.ProviderBudget, until
		case circuit.Probe > 0:
			one.State, one.Class, one.Probe = api.ProviderTried, circuit.Class, circuit.Probe
		case i == used:
			one.State = api.ProviderInUse
		}
		one.PassedOver = i < used && !p.TierOnly
		out = append(out, one)
	}
	return out
}

// daySpent reports whether a limit of the day is reached, and when the day is over.
func daySpent(b *provider.BudgetStatus, now time.Time) (until time.Time, spent bool) {
	if b == nil {
		return time.Time{}, false
	}
	_, until = policy.Day(now)
	return until, slices.ContainsFunc(b.Limits, func(l provider.BudgetLimit) bool {
		return (l.Name == policy.LimitTokensDay || l.Name == policy.LimitUSDDay) && l.Used >= l.Limit
	})
}
