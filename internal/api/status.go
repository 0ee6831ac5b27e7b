package api

import (
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/health"
)

// HealthWindows is how the observer did in the last hour, day and week.
type HealthWindows = health.Windows

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
