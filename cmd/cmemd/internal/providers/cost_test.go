package providers

import (
	"math"
	"testing"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/events"
)

// TestWhatATurnCosts to the budget and to `observer test`: what is stated, and the rest by the model that answered, or else by
// the one that was asked.
func TestWhatATurnCosts(t *testing.T) {
	t.Parallel()
	ps := config.Prices{Known: config.PriceList{
		{Provider: "gemini", Model: "flash", Input: 1, Output: 10}, {Provider: "gemini", Model: "pro", Input: 100, Output: 1000},
		{Provider: "anthropic", Model: "haiku", Input: 2, Output: 20},
	}}
	all, some := events.Usage{Input: 1_000_000, Output: 100_000}, events.Usage{Input: 500_000}
	for name, c := range map[string]struct {
		provider, asked string
		bill            events.Bill
		want            float64 // NaN: not known
		from            string
	}{
		"by the list":                           {"gemini", "flash", events.Bill{Usage: all}, 2, costListed},
		"by who answered":                       {"gemini", "flash", events.Bill{Usage: all, Model: "pro"}, 200, costListed},
		"by who was asked":                      {"gemini", "flash", events.Bill{Usage: all, Model: "flash-001"}, 2, costListed},
		"by nobody":                             {"gemini", "nano", events.Bill{Usage: all, Model: "nano-001"}, math.NaN(), ""},
		"stated":                                {"gemini", "flash", events.Bill{Usage: all, Cost: 0.5}, 0.5, costStated},
		"stated as nothing":                     {"gemini", "flash", events.Bill{Usage: all, CostStated: true}, 0, costStated},
		"stated of some":                        {"gemini", "flash", events.Bill{Usage: all, Cost: 0.5, CostStated: true, Uncosted: some}, 1, costBoth},
		"stated of some, the rest has no price": {"gemini", "nano", events.Bill{Usage: all, Cost: 0.5, CostStated: true, Uncosted: some}, math.NaN(), ""},
		"claude-cli, stopped before it said so": {"claude-cli", "haiku", events.Bill{Usage: all, Model: "haiku-20251001"}, 4, costListed},
		"nothing used":                          {"gemini", "flash", events.Bill{}, math.NaN(), ""},
	} {
		spent := c.bill.Cost // what is known of it
		if !math.IsNaN(c.want) {
			spent = c.want
		}
		if got := ps.TurnCost(c.provider, c.asked, c.bill); math.Abs(got-spent) > 1e-9 {
			t.Errorf("%s: the budget counts $%v, want $%v", name, got, spent)
		}
		tried := trial{Provider: c.provider, Model: c.asked, prices: ps}
		tried.count(c.bill)
		got := math.NaN()
		if tried.CostUSD != nil {
			got = *tried.CostUSD
		}
		if tried.CostFrom != c.from || math.IsNaN(got) != math.IsNaN(c.want) || math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: `observer test` says $%v by %q, want $%v by %q", name, got, tried.CostFrom, c.want, c.from)
		}
	}
}
