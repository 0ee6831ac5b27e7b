package server

import (
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/projections/health"
)

func TestFindings(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	rests := api.Health{Pauses: []health.Pause{{
		Provider: "first", Class: events.FailLimit, Since: now.Add(-2 * time.Hour), At: now, Until: now.Add(time.Hour), Probe: 3,
	}}}
	tomorrow := now.Add(12 * time.Hour)
	budget := func(limit string, until time.Time, held int) *provider.BudgetStatus {
		return &provider.BudgetStatus{
			State: policy.BudgetSpent, Limit: limit, Until: until, Held: held, Part: 1.1, Limits: []provider.BudgetLimit{{Name: limit, Limit: 10, Used: 11}},
		}
	}
	for _, c := range []struct {
		name   string
		health api.Health
		status provider.Status
		want   []string // what, whether it is grave, and words, with blanks between
	}{
		{name: "nothing"},
		{name: "nobody stands in", health: rests, want: []string{"held true tried 3 times"}},
		{name: "it is tried itself", health: rests, status: provider.Status{InUse: "first"}, want: []string{"held true tried 3 times"}},
		{name: "another one stands in", health: rests, status: provider.Status{InUse: "second"}, want: []string{"held false ; second is asked instead"}},
		{name: "a day", status: provider.Status{Budget: budget(policy.LimitTokensDay, tomorrow, 0)},
			want: []string{"budget false budget_tokens_day is used up (11 of 10 tokens): what is captured is held until 2026-03-02 00:00"}},
		{name: "a day in dollars, and somebody who costs nothing", status: provider.Status{InUse: "extractive", Budget: budget(policy.LimitUSDDay, tomorrow, 0)},
			want: []string{"budget false budget_usd_day is used up ($11.00 of $10.00) until 2026-03-02 00:00; extractive, which costs nothing, is asked instead"}},
		{name: "a session that waits", status: provider.Status{InUse: "first", Budget: budget(policy.LimitTokensSession, time.Time{}, 1)},
			want: []string{"budget false : what 1 session captured is held until it is raised"}},
		{name: "a session that is over", status: provider.Status{InUse: "first", Budget: budget(policy.LimitTokensSession, time.Time{}, 0)}},
		{name: "nearly used up", status: provider.Status{Budget: &provider.BudgetStatus{State: policy.BudgetWarn, Limit: policy.LimitTokensDay, Until: tomorrow, Part: 0.9}}},
		{name: "the gravest first", health: rests, status: provider.Status{Budget: budget(policy.LimitTokensDay, tomorrow, 2)},
			want: []string{"held true", "budget false"}},
		{name: "what holds inputs before what does not", health: rests, status: provider.Status{InUse: "second", Budget: budget(policy.LimitTokensDay, tomorrow, 2)},
			want: []string{"budget false", "held false"}},
	} {
		found := Findings(c.health, c.status, now)
		if len(found) != len(c.want) {
			t.Errorf("%s: got %+v, want %q", c.name, found, c.want)
			continue
		}
		for i, f := range found {
			what, rest, _ := strings.Cut(c.want[i], " ")
			grave, words, _ := strings.Cut(rest, " ")
			if string(f.What) != what || f.Degraded != (grave == "true") || !strings.Contains(f.Says, words) || f.Do == "" {
				t.Errorf("%s: got %+v, want %q", c.name, f, c.want[i])
			}
		}
	}
}
