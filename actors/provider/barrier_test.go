package provider

import (
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// TestBarriers: behind two that stand before one candidate a turn is held since the first of them and until the last; of two candidates,
// since the later is held too, and until either opens.
func TestBarriers(t *testing.T) {
	t.Parallel()
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	pause := Barrier{Closed: true, Held: true, Since: at(10), Until: at(50)}
	budget := Barrier{Closed: true, Held: true, Budget: true, Since: at(20), Until: at(40)}
	reading := Barrier{Closed: true, ReadingSpending: true, Budget: true}
	for name, tc := range map[string]struct{ got, want Barrier }{
		"both before one":      {pause.and(budget), Barrier{Closed: true, Held: true, Budget: true, Since: at(10), Until: at(50)}},
		"in the other order":   {budget.and(pause), Barrier{Closed: true, Held: true, Budget: true, Since: at(10), Until: at(50)}},
		"one before each":      {pause.or(budget), Barrier{Closed: true, Held: true, Budget: true, Since: at(20), Until: at(40)}},
		"one and nothing":      {pause.and(Barrier{}), pause},
		"held, and being read": {pause.and(reading), Barrier{Closed: true, ReadingSpending: true, Held: true, Budget: true, Since: at(10), Until: at(50)}},
		"neither of them":      {Barrier{}.and(Barrier{}), Barrier{}},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: got %+v, want %+v", name, tc.got, tc.want)
		}
	}
}

// TestWhoRestsIsNotWaitedFor while what was spent is being read: whoever stands in is asked at once.
func TestWhoRestsIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	p := Providers{
		Routes: Routes{Providers: []Candidate{{Provider: "rests"}, {Index: 1, Provider: "stands in", Free: true}}},
		States: map[string]*State{
			"rests": {Pause: policy.Pause{Class: events.FailLimit, Probe: 1, Until: now.Add(time.Hour)}}, "stands in": {},
		},
		Ledger: newLedger(policy.Budget{TokensDay: 1}, now),
	}
	l, b := p.Choose(Request{Requirement: Requirement{Kind: events.TurnObservation}}, now)
	if b.Closed || l.Candidate.Provider != "stands in" {
		t.Errorf("got %+v behind %+v, want who stands in", l.Candidate, b)
	}
	p.States["rests"].Pause = policy.Pause{}
	if l, b := p.Choose(Request{Requirement: Requirement{Kind: events.TurnObservation}}, now); !b.ReadingSpending {
		t.Errorf("got %+v behind %+v, want that the spending is awaited", l.Candidate, b)
	}
}
