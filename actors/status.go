package actors

import (
	"context"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/events"
)

// Status is what the actors are doing.
type Status struct {
	Waiting   int                    `json:"waiting"` // requests accepted and not yet committed
	Awake     int                    `json:"awake"`   // session actors
	Turns     int                    `json:"turns"`   // in flight
	Queued    int                    `json:"queued"`  // sessions that wait for a slot
	Slots     int                    `json:"slots"`
	Degraded  bool                   `json:"degraded"` // capture only
	Providers map[string]Paused      `json:"providers"`
	Order     []string               `json:"order"`            // names of Providers: as they are preferred, then those of tiers alone
	InUse     string                 `json:"in_use,omitempty"` // whom an ordinary turn would be asked of now; empty: nobody may be
	Budget    *provider.BudgetStatus `json:"budget,omitempty"` // nil: there is none
}

// Paused is the state of a provider's circuit. With Paused false and a Probe it is half open: its pause is over, and
// turns go one at a time until one is parsed.
type Paused struct {
	Paused bool                `json:"paused"`          // nobody is let in now; if Class blames turns: but what has not failed yet
	Class  events.FailureClass `json:"class,omitempty"` // of the last failure
	Until  time.Time           `json:"until,omitzero"`
	Probe  int                 `json:"probe,omitempty"` // pauses in a row; 0: open
}

// ProviderState is what a provider does now.
type ProviderState string

// The states of a provider.
const (
	ProviderInUse  ProviderState = "in_use"  // an ordinary turn is asked of it
	ProviderReady  ProviderState = "ready"   // it would be asked if those before it could not, or for its tier
	ProviderTried  ProviderState = "tried"   // its pause is over: one turn at a time tries it
	ProviderPaused ProviderState = "paused"  // it is left alone
	ProviderBudget ProviderState = "no_more" // the day's budget is used up
)

// StateOf is what keeps a provider of that name from being asked, and until when; zero: nobody knows. ProviderReady is nothing. One
// that is free costs nothing of the budget.
func (s Status) StateOf(name string, free bool, now time.Time) (state ProviderState, until time.Time) {
	switch circuit := s.Providers[name]; {
	case circuit.Paused:
		return ProviderPaused, circuit.Until
	case !free && s.Budget.DayLimit() != "":
		_, until = policy.Day(now)
		return ProviderBudget, until
	case circuit.Probe > 0:
		return ProviderTried, time.Time{}
	}
	return ProviderReady, time.Time{}
}

// Status asks the dispatcher. Errors: ErrStopped, ctx.Err().
func (s *System) Status(ctx context.Context) (Status, error) {
	if !s.running.Load() {
		return Status{}, ErrStopped
	}
	ask := askStatus{reply: make(chan Status, 1)}
	s.root.Send(s.dispatch, ask)
	select {
	case st := <-ask.reply:
		st.Waiting, st.Awake = int(s.waiting.Load()), int(s.live.Load())
		return st, nil
	case <-ctx.Done():
		return Status{}, ctx.Err()
	case <-s.done:
		return Status{}, ErrStopped
	}
}
