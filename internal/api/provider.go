package api

import (
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/events"
)

// The routes of providers.
var (
	ResumeRoute = Route[NameQuery, Resumed]{post, "/v1/providers/{name}/resume", ScopeEdit, "ends its pause"} // of one that is not paused: 409
)

// NameQuery names one thing.
type NameQuery struct {
	Name string `path:"name"`
}

// Resumed says that a provider may be asked again.
type Resumed struct {
	Provider string          `json:"provider"`
	Position events.Position `json:"position"`
}

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
type ProviderState = provider.Availability

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
	ProviderInUse  = provider.InUse
	ProviderReady  = provider.Ready
	ProviderTried  = provider.Tried
	ProviderPaused = provider.Resting
	ProviderBudget = provider.OverBudget
)

// The turns that a provider may be asked about first.
const (
	TierSummary = "summary"
	TierTrivial = "trivial"
)
