package curation

import (
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
)

// threeProviders is a chosen one, one that stands in and costs nothing, and one of a tier alone.
func threeProviders() []api.Provider {
	return []api.Provider{
		{Name: "first", Model: "big", Tiers: []string{api.TierTrivial}}, {Name: "second", Free: true},
		{Name: "third", Tiers: []string{api.TierSummary}, TierOnly: true},
	}
}

// TestNobodyMayBeAsked tells whether answers that somebody waits for will be a while in coming.
func TestNobodyMayBeAsked(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	rests := provider.Paused{Paused: true, Class: events.FailLimit, Until: now.Add(time.Hour)}
	both := map[string]provider.Paused{"first": rests, "second": rests}
	day := &provider.BudgetStatus{Limits: []provider.BudgetLimit{{Name: policy.LimitTokensDay, Limit: 1, Used: 1}}}
	held := &provider.BudgetStatus{State: policy.BudgetSpent, Limit: policy.LimitTokensSession, Held: 2}
	for name, c := range map[string]struct {
		named  string
		status provider.Status
		want   string
	}{
		"nothing":                         {"", provider.Status{}, ""},
		"one stands in":                   {"", provider.Status{Providers: map[string]provider.Paused{"first": rests}}, ""},
		"both rest":                       {"", provider.Status{Providers: both}, "first is paused (limit) until 2026-03-01T13:00:00Z"},
		"the named one rests":             {"first", provider.Status{Providers: map[string]provider.Paused{"first": rests}}, "first is paused (limit)"},
		"another rests":                   {"second", provider.Status{Providers: map[string]provider.Paused{"first": rests}}, ""},
		"a day, and one costs nothing":    {"", provider.Status{Budget: day}, ""},
		"a day, and the named one costs":  {"third", provider.Status{Budget: day}, "the budget of the day is used up until 2026-03-02T00:00:00Z"},
		"sessions held":                   {"", provider.Status{Budget: held, Queued: 2}, "budget_tokens_session is used up until it is raised"},
		"sessions held, a turn is out":    {"", provider.Status{Budget: held, Queued: 2, Turns: 1}, ""},
		"sessions held, and others go on": {"", provider.Status{Budget: held, Queued: 3}, ""},
	} {
		if got := unavailable(threeProviders(), c.named, c.status, 2, now); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
