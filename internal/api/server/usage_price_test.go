package server

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/projections/usage"
)

// TestUsageIsPricedByWhoWasAskedToo: a model that answers under a name without a price costs what the one costs that was
// asked; what stays without a price is told once a name.
func TestUsageIsPricedByWhoWasAskedToo(t *testing.T) {
	t.Parallel()
	model := func(name, asked string, input int64) usage.Model {
		m := usage.Model{Provider: "openai", Model: name, Asked: asked}
		m.Turns, m.Input, m.Unstated = 1, input, events.Usage{Input: input}
		return m
	}
	groups := []usage.Group{
		{Key: usage.Key{Day: "2026-03-01"}, Models: []usage.Model{
			model("known", "", 1), model("known-001", "known", 20), model("odd", "", 300), model("odd", "other", 4000),
		}},
		{Key: usage.Key{Day: "2026-03-02"}, Models: []usage.Model{model("known-001", "known", 50_000)}},
	}
	s := prices(priced)
	out := api.Usage{By: api.UsageByDay}
	s.fill(&out, groups, 10)
	if out.Total.USD != 50_021 || out.Total.EstimatedUSD != 50_021 || out.Total.UnpricedTokens != 4300 {
		t.Errorf("the total is %+v", out.Total)
	}
	if len(out.Rows) != 2 || out.Rows[0].USD != 50_000 || out.Rows[1].USD != 21 || out.Rows[1].UnpricedTokens != 4300 {
		t.Errorf("the rows are %+v", out.Rows)
	}
	if diff := cmp.Diff([]api.ModelTokens{{Provider: "openai", Model: "odd", Tokens: 4300}}, out.Unpriced); diff != "" {
		t.Errorf("without a price (-want +got):\n%s", diff)
	}
}

// TestWhatATurnCostIsTold beside it: stated, by the list, both, or not at all.
func TestWhatATurnCostIsTold(t *testing.T) {
	t.Parallel()
	s := prices(priced)
	used := events.Usage{Input: 10, Output: 1}
	for name, c := range map[string]struct {
		turn api.Turn
		want any // nil: not known
	}{
		"by the list":                {api.Turn{Provider: "openai", Model: "known", Usage: used}, 20.0},
		"by who was asked":           {api.Turn{Provider: "openai", Model: "known", Answered: "known-001", Usage: used}, 20.0},
		"stated":                     {api.Turn{Provider: "openai", Model: "odd", Usage: used, Cost: 0.5}, 0.5},
		"stated as nothing":          {api.Turn{Provider: "openai", Model: "known", Usage: used, CostStated: true}, 0.0},
		"stated of some":             {api.Turn{Provider: "openai", Model: "known", Usage: used, Cost: 0.5, Unstated: events.Usage{Input: 4}}, 4.5},
		"no price":                   {api.Turn{Provider: "openai", Model: "odd", Usage: used}, nil},
		"no price of what is open":   {api.Turn{Provider: "openai", Model: "odd", Usage: used, Cost: 0.5, Unstated: events.Usage{Input: 4}}, nil},
		"nothing was used, or known": {api.Turn{Provider: "openai", Model: "known"}, nil},
	} {
		var got any
		if usd := s.costOf(c.turn); usd != nil {
			got = *usd
		}
		if got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
