package server

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

func TestProviderStatus(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	hour, tomorrow := now.Add(time.Hour), time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	paused := provider.Paused{Paused: true, Class: events.FailLimit, Until: hour, Probe: 2}
	day := func(name string, used float64) *provider.BudgetStatus {
		return &provider.BudgetStatus{Limits: []provider.BudgetLimit{{Name: name, Limit: 10, Used: used}}}
	}
	first := api.ProviderStatus{Name: "first", Model: "big", State: api.ProviderInUse, Tiers: []string{api.TierTrivial}}
	second := api.ProviderStatus{Name: "second", State: api.ProviderReady}
	third := api.ProviderStatus{Name: "third", State: api.ProviderReady, Tiers: []string{api.TierSummary}, TierOnly: true}
	with := func(p api.ProviderStatus, change func(*api.ProviderStatus)) api.ProviderStatus { change(&p); return p }
	used := with(second, func(p *api.ProviderStatus) { p.State = api.ProviderInUse })
	rests := with(first, func(p *api.ProviderStatus) {
		p.State, p.Class, p.Until, p.Probe, p.PassedOver = api.ProviderPaused, events.FailLimit, hour, 2, true
	})
	for name, c := range map[string]struct {
		status provider.Status
		want   []api.ProviderStatus
	}{
		"the first": {provider.Status{InUse: "first"}, []api.ProviderStatus{first, second, third}},
		"passed over": {
			provider.Status{InUse: "second", Providers: map[string]provider.Paused{"first": paused}}, []api.ProviderStatus{rests, used, third}},
		"tried": {provider.Status{InUse: "first", Providers: map[string]provider.Paused{"first": {Class: events.FailAuth, Until: now, Probe: 1}}},
			[]api.ProviderStatus{with(first, func(p *api.ProviderStatus) { p.State, p.Class, p.Probe = api.ProviderTried, events.FailAuth, 1 }), second, third}},
		"nobody": {provider.Status{Providers: map[string]provider.Paused{"second": paused}}, []api.ProviderStatus{
			with(first, func(p *api.ProviderStatus) { p.State = api.ProviderReady }),
			with(second, func(p *api.ProviderStatus) {
				p.State, p.Class, p.Until, p.Probe = api.ProviderPaused, events.FailLimit, hour, 2
			}), third}},
		"a day that is used up": {provider.Status{InUse: "second", Budget: day(policy.LimitTokensDay, 10)}, []api.ProviderStatus{
			with(first, func(p *api.ProviderStatus) { p.State, p.Until, p.PassedOver = api.ProviderBudget, tomorrow, true }), used,
			with(third, func(p *api.ProviderStatus) { p.State, p.Until = api.ProviderBudget, tomorrow })}},
		"a day that is nearly used up": {provider.Status{InUse: "first", Budget: day(policy.LimitUSDDay, 9.99)}, []api.ProviderStatus{first, second, third}},
		"a session that is used up":    {provider.Status{InUse: "first", Budget: day(policy.LimitTokensSession, 10)}, []api.ProviderStatus{first, second, third}},
	} {
		if diff := cmp.Diff(c.want, providersNow(threeProviders(), c.status, now)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// TestStatusTellsOfProvidersAndBudgets asks a daemon that has both.
func TestStatusTellsOfProvidersAndBudgets(t *testing.T) {
	t.Parallel()
	stuck := &stuckSystem{status: provider.Status{
		InUse: "second", Order: []string{"first", "second", "third"}, Providers: map[string]provider.Paused{"first": {}, "second": {}, "third": {}},
		Budget: &provider.BudgetStatus{Held: 3, Limits: []provider.BudgetLimit{{Name: policy.LimitUSDDay, Limit: 2.5, Used: 2.75}}},
	}}
	w := newWorld(t, func(c *testConfig) {
		stuck.System, c.System, c.Providers = c.System, stuck, threeProviders()
	})
	st, err := api.StatusRoute.Call(t.Context(), w.client, api.NoQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if len(st.Providers) != 3 || st.Providers[0].State != api.ProviderBudget || st.Providers[1].State != api.ProviderInUse || st.Actors.Budget.Held != 3 {
		t.Errorf("got %+v, %+v", st.Providers, st.Actors.Budget)
	}
	for name, want := range map[string]string{
		`cmemd_provider_in_use{provider="second"}`:         "1",
		`cmemd_provider_in_use{provider="first"}`:          "0",
		`cmemd_budget_limit{limit="budget_usd_day"}`:       "2.5",
		`cmemd_budget_used{limit="budget_usd_day"}`:        "2.75",
		`cmemd_budget_held_sessions`:                       "3",
		`cmemd_provider_paused{class="",provider="first"}`: "0",
	} {
		if got := metric(t, w, name); got != want {
			t.Errorf("%s: got %q, want %s", name, got, want)
		}
	}
}

// TestWhoIsAskedAgain: a plan is of whoever would be asked now, unless a person names somebody.
func TestWhoIsAskedAgain(t *testing.T) {
	t.Parallel()
	stuck := &stuckSystem{}
	w := newWorld(t, func(c *testConfig) {
		stuck.System, c.System, c.Providers = c.System, stuck, threeProviders()
	})
	for _, c := range []struct{ named, inUse, want string }{
		{"", "second", "second"}, {"", "", "first"}, {"", "gone", "first"}, {"first", "second", "first"}, {"third", "first", "third"},
	} {
		stuck.status = provider.Status{InUse: c.inUse}
		plan, err := api.ReobserveRoute.Call(t.Context(), w.client, api.ReobserveRequest{Dropped: true, DryRun: true, Provider: c.named}, nil)
		if err != nil || plan.Provider != c.want {
			t.Errorf("%+v: got %q, %v", c, plan.Provider, err)
		}
	}
}
