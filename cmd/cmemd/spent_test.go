package main

import (
	"math"
	"testing"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/health"
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
		"stated":                                {"gemini", "flash", events.Bill{Usage: all, Cost: 0.5}, 0.5, costTold},
		"stated as nothing":                     {"gemini", "flash", events.Bill{Usage: all, Told: true}, 0, costTold},
		"stated of some":                        {"gemini", "flash", events.Bill{Usage: all, Cost: 0.5, Told: true, Unstated: some}, 1, costBoth},
		"stated of some, the rest has no price": {"gemini", "nano", events.Bill{Usage: all, Cost: 0.5, Told: true, Unstated: some}, math.NaN(), ""},
		"claude-cli, stopped before it said so": {"claude-cli", "haiku", events.Bill{Usage: all, Model: "haiku-20251001"}, 4, costListed},
		"nothing used":                          {"gemini", "flash", events.Bill{}, math.NaN(), ""},
	} {
		spent := c.bill.Cost // what is known of it
		if !math.IsNaN(c.want) {
			spent = c.want
		}
		if got := ps.OfTurn(c.provider, c.asked, c.bill); math.Abs(got-spent) > 1e-9 {
			t.Errorf("%s: the budget counts $%v, want $%v", name, got, spent)
		}
		tried := try{Provider: c.provider, Model: c.asked, prices: ps}
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

func TestPauseLine(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	pause := health.Pause{Provider: "claude-cli", Class: events.FailLimit, Until: now.Add(time.Hour), Probe: 2}
	past, tried := pause, pause
	past.Until, tried.Trial.Turn = now.Add(-time.Minute), events.ID{1}
	for _, c := range []struct {
		pause health.Pause
		want  string
	}{
		{pause, "claude-cli (limit) until 2026-03-01 13:00, probe 2"},
		{past, "claude-cli (limit) until 2026-03-01 11:59: that is over, and turns try it, one at a time"},
		{tried, "claude-cli (limit) until 2026-03-01 13:00, being tried now, probe 2"},
	} {
		if got := pauseLine(c.pause, now); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestRespawnLine(t *testing.T) {
	t.Parallel()
	r := health.Respawn{At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local), From: 3, To: 4}
	crashed, unparseable := r, r
	crashed.Cause, crashed.Counted = "crash", events.Counted{InWindow: 2, Consecutive: 3}
	crashed.Limits = events.Limits{MaxRestarts: 5, Window: time.Minute, MaxConsecutive: 4}
	unparseable.Cause, unparseable.Counted = "unparseable", events.Counted{Unparseable: 6}
	unparseable.Limits = events.Limits{Unparseable: 5, Window: 10 * time.Minute, Every: time.Hour}
	for _, c := range []struct {
		respawn health.Respawn
		want    string
	}{
		{crashed, "2026-03-01 12:00: crash, generation 3 to 4, 2 in 1m (at most 5), 3 in a row (at most 4)"},
		{unparseable, "2026-03-01 12:00: unparseable, generation 3 to 4, 6 unparseable outputs in 10m (a respawn from 5 on, at most every 1h)"},
	} {
		if got := respawnLine(c.respawn); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	count := health.Count{Turns: 2, Respawns: map[string]int64{"crash": 2, "unparseable": 1}}
	if got, want := countLine(count), "2 turns, 0 kept, 2 respawns (crash), 1 respawn (unparseable)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
