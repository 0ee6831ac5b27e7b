package doctor

import (
	"fmt"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/server"
	"github.com/cmemd/cmemd/internal/number"
)

// showProviders shows who is asked, in order, and what the budget has left.
func showProviders(a *terminal.App, s api.Status) {
	name := "providers"
	for _, p := range s.Providers {
		a.Field(name, providerLine(p))
		name = ""
	}
	if s.Actors.Budget == nil {
		return
	}
	name = "budget"
	for _, line := range budgetLines(s.Actors.Budget) {
		a.Field(name, line)
		name = ""
	}
}

// providerLine says who a provider is, what it does, and what it is there for.
func providerLine(p api.ProviderStatus) string {
	line := terminal.NameOfModel(p.Name, p.Model) + ": " + stateLine(p)
	if p.PassedOver {
		line += "; passed over"
	}
	for _, tier := range p.Tiers {
		switch tier {
		case api.TierSummary:
			line += "; first for summaries"
		case api.TierTrivial:
			line += "; first for what is trivial"
		}
	}
	return line
}

func stateLine(p api.ProviderStatus) string {
	switch p.State {
	case api.ProviderInUse:
		return "in use"
	case api.ProviderTried:
		return fmt.Sprintf("tried, one turn at a time (%s)", p.Class)
	case api.ProviderPaused:
		return fmt.Sprintf("paused (%s) until %s, probe %d", p.Class, terminal.Moment(p.Until), p.Probe)
	case api.ProviderBudget:
		return "not asked until " + terminal.Moment(p.Until) + ": the budget is used up"
	}
	return "ready"
}

// budgetLines says of each limit how much of it is used, and what is held because of one.
func budgetLines(b *provider.BudgetStatus) []string {
	var lines []string
	for _, l := range b.Limits {
		line := fmt.Sprintf("%s: %s (%.0f %%)", l.Name, server.UsedOf(l), 100*l.Used/l.Limit)
		if l.Name == b.Limit {
			line += budgetWord(b)
		}
		if l.Session != nil {
			line += fmt.Sprintf(", by session %s", l.Session)
		}
		lines = append(lines, line)
	}
	if !b.Known {
		lines = append(lines, "what was used before is not known yet: nothing that costs is asked")
	}
	if b.Held > 0 {
		lines = append(lines, number.Plural(b.Held, "session")+" held: what they captured waits")
	}
	return lines
}

// budgetWord says how grave it is that a limit is used so far.
func budgetWord(b *provider.BudgetStatus) string {
	switch {
	case b.State == policy.BudgetWarn:
		return ", nearly used up"
	case b.State == policy.BudgetSpent && b.Until.IsZero():
		return ", used up until it is raised"
	case b.State == policy.BudgetSpent:
		return ", used up until " + terminal.Moment(b.Until)
	}
	return ""
}
