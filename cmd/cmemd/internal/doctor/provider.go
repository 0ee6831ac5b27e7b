package doctor

import (
	"context"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/server"
	"github.com/cmemd/cmemd/projections/health"
)

// checkProvider names who observes, and tells whether they are left alone.
func checkProvider(_ context.Context, x *examination) []finding {
	if x.status == nil {
		if x.settings != nil {
			return []finding{unknown("the settings cannot be used")}
		}
		return []finding{healthy("%s, as the settings say", strings.Join(x.config.ConfiguredProviders(), ", "))}
	}
	out := found(x.status.Findings, func(f health.Finding) bool { return f.What == health.FindHeld })
	for _, p := range x.status.Providers {
		isHeld := func(f health.Finding) bool { return f.What == health.FindHeld && f.Provider == p.Name }
		if p.State == api.ProviderPaused && slices.ContainsFunc(x.status.Findings, isHeld) {
			continue
		}
		out = append(out, providerState(p))
	}
	return out
}

// providerState tells of one provider of a daemon.
func providerState(p api.ProviderStatus) finding {
	switch p.State {
	case api.ProviderPaused, api.ProviderTried:
		return note("wait; `cmemd observer test --provider "+p.Name+"` asks it once", "%s", providerLine(p))
	case api.ProviderBudget:
		return note("wait, or raise the budget", "%s", providerLine(p))
	}
	return healthy("%s", providerLine(p))
}

// checkBudget looks whether a budget holds inputs back.
func checkBudget(_ context.Context, x *examination) []finding {
	if x.status == nil {
		if x.settings == nil && x.config.Budget.None() {
			return []finding{healthy("there is none")}
		}
		return needsDaemon()
	}
	b := x.status.Actors.Budget
	if b == nil {
		return []finding{healthy("there is none")}
	}
	if out := found(x.status.Findings, func(f health.Finding) bool { return f.What == server.FindBudget }); len(out) > 0 {
		return out
	}
	says := strings.Join(budgetLines(b), "; ")
	if b.State != policy.BudgetFree || !b.Known {
		mend := "`cmemd logs` says why"
		if b.Limit != "" {
			mend = "raise it in time: `cmemd config set " + b.Limit + " ...`"
		}
		return []finding{note(mend, "%s", says)}
	}
	return []finding{healthy("%s", says)}
}
