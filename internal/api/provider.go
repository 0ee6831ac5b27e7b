package api

import (
	"slices"
	"time"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/events"
)

// Provider is an observer that may be asked. A tier may have one of the same name with another model.
type Provider struct {
	Name        string
	Model       string
	BatchLimits policy.BatchLimits
	Free        bool // it works here: nothing is sent anywhere, and no tokens are used

	Tiers    []string // turns that it is asked about before others: TierSummary, TierTrivial
	TierOnly bool     // it is asked about those alone: it stands in for nobody
}

// ProviderState is what a provider does now.
type ProviderState string

// ProviderStatus is one provider, as it is now.
type ProviderStatus struct {
	Name       string              `json:"name"`
	Model      string              `json:"model,omitempty"`
	State      ProviderState       `json:"state"`
	PassedOver bool                `json:"passed_over,omitempty"` // another one, behind it in the order, is asked instead
	Class      events.FailureClass `json:"class,omitempty"`       // of the failure that paused it
	Until      time.Time           `json:"until,omitzero"`        // of the pause, or of the budget; zero: nobody knows
	Probe      int                 `json:"probe,omitempty"`       // pauses in a row
	Tiers      []string            `json:"tiers,omitempty"`       // turns that it is asked about first: TierSummary, TierTrivial
	TierOnly   bool                `json:"tier_only,omitempty"`   // it stands in for nobody
}

// The states of a provider.
const (
	ProviderInUse  ProviderState = "in_use"  // an ordinary turn is asked of it
	ProviderReady  ProviderState = "ready"   // it would be asked if those before it could not, or for its tier
	ProviderTried  ProviderState = "tried"   // its pause is over: one turn at a time tries it
	ProviderPaused ProviderState = "paused"  // it is left alone
	ProviderBudget ProviderState = "no_more" // the day's budget is used up
)

// The turns that a provider may be asked about first.
const (
	TierSummary = "summary"
	TierTrivial = "trivial"
)

// ProvidersNow is every provider that is configured, in order, as it is now.
func ProvidersNow(all []Provider, st actors.Status, now time.Time) []ProviderStatus {
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
func daySpent(b *provider.BudgetStatus, now time.Time) (until time.Time, spent bool) {
	if b == nil {
		return time.Time{}, false
	}
	_, until = policy.Day(now)
	return until, slices.ContainsFunc(b.Limits, func(l provider.BudgetLimit) bool {
		return (l.Name == policy.LimitTokensDay || l.Name == policy.LimitUSDDay) && l.Used >= l.Limit
	})
}
