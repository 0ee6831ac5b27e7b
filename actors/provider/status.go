package provider

import (
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// Status is how things stand with turns and those that they may be asked of.
type Status struct {
	Turns     int               `json:"turns"`  // in flight
	Queued    int               `json:"queued"` // sessions that wait for a slot
	Slots     int               `json:"slots"`
	Degraded  bool              `json:"degraded"` // capture only
	Providers map[string]Paused `json:"providers"`
	Order     []string          `json:"order"`            // names of Providers: as they are preferred, then those of tiers alone
	InUse     string            `json:"in_use,omitempty"` // whom an ordinary turn would be asked of now; empty: nobody may be
	Budget    *BudgetStatus     `json:"budget,omitempty"` // nil: there is none
}

// Paused is the state of a provider's circuit. With Paused false and a Probe it is half open: its pause is over, and
// turns go one at a time until one is parsed.
type Paused struct {
	Paused bool                `json:"paused"`          // nobody is let in now; if Class blames turns: but what has not failed yet
	Class  events.FailureClass `json:"class,omitempty"` // of the last failure
	Until  time.Time           `json:"until,omitzero"`
	Probe  int                 `json:"probe,omitempty"` // pauses in a row; 0: open
}

// Availability says whether turns are asked of a provider now.
type Availability string

// The availabilities of a provider.
const (
	InUse      Availability = "in_use"  // an ordinary turn is asked of it
	Ready      Availability = "ready"   // it would be asked if those before it could not, or for its tier
	Tried      Availability = "tried"   // its pause is over: one turn at a time tries it
	Resting    Availability = "paused"  // it is left alone
	OverBudget Availability = "no_more" // the day's budget is used up
)

// AvailabilityOf is what keeps a provider of that name from being asked, and until when; zero: nobody knows. Where nothing does it is
// Ready, also of the one that is InUse. One that is free costs nothing of the budget.
func (s Status) AvailabilityOf(name string, free bool, now time.Time) (a Availability, until time.Time) {
	switch circuit := s.Providers[name]; {
	case circuit.Paused:
		return Resting, circuit.Until
	case !free && s.Budget.DayLimit() != "":
		_, until = policy.Day(now)
		return OverBudget, until
	case circuit.Probe > 0:
		return Tried, time.Time{}
	}
	return Ready, time.Time{}
}

// Status says how things stand at now. The ledger is in the day of now: see Ledger.Roll.
func (p *Pool) Status(now time.Time) Status {
	st := Status{
		Turns: len(p.leases), Queued: len(p.queue), Slots: p.slots, Degraded: p.degraded,
		Providers: map[string]Paused{}, Order: p.Routes.Names(), InUse: p.Preferred(now), Budget: p.Ledger.Status(),
	}
	for name, s := range p.States {
		st.Providers[name] = Paused{Paused: s.Pause.Rests(now), Class: s.Pause.Class, Until: s.Pause.Until, Probe: s.Pause.Probe}
	}
	if st.Budget != nil {
		st.Budget.Held = p.HeldByBudget(now)
	}
	return st
}
