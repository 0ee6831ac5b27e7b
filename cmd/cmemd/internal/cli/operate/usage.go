package operate

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
)

const usageHelp = `Usage says what the observer's turns cost: how many ended, the requests that were sent for them, the bytes of the questions, the
tokens as far as the provider tells them, and US dollars. What failed is counted too, as far as it was paid, and what is
forgotten stays counted. Days are yours, or with --utc those of UTC. Turns count when they end, exact to a quarter of an hour; a
model is the one that answered.

PROMPTS is what went out to a model: what was captured, with all that is said around it, once for each request. Where no model
is asked, and of turns that ended before that was counted, it is what was captured alone. With --by outcome, probe marks the
turns that tried whether a session's quarantine can end; those that tried a provider after a pause stand among the others.

What a provider states that a turn cost counts, also where it is nothing. Of the rest the tokens are multiplied by known prices,
those of the model that answered or else of the one that was asked: an amount with such a part begins with ~. ` + "`?`" + ` stands where tokens have no price: prices.toml in CMEMD_HOME adds it, in the form

  [[price]]
  provider = "openai"
  model = "my-model"      # or the beginning of a name before a *
  input = 0.25            # US dollars a million tokens
  cached = 0.025
  output = 2
  date = 2026-01-31       # when it was valid; may be left out

and is read when the daemon starts.`

func newUsage(a *terminal.App) *cobra.Command {
	return terminal.Asking(a, &cobra.Command{
		Use: "usage", Short: "Say what the observer costs: turns, tokens and money",
		Long:    usageHelp,
		Example: "  cmemd usage --since 7d\n  cmemd usage --by model\n  cmemd usage --by session --project shop",
	}, api.UsageRoute, nil, showUsage)
}

func showUsage(a *terminal.App, found api.Usage) error {
	if len(found.Rows) == 0 {
		return fmt.Errorf("%w: no turn has ended", terminal.ErrNothing)
	}
	l := terminal.List{Head: []string{strings.ToUpper(string(found.By)), "TURNS", "AGAIN", "CALLS", "PROMPTS", "INPUT", "CACHED", "OUTPUT", "COST"}}
	for _, r := range found.Rows {
		l.Add(append([]string{usageName(a, found.By, r)}, spentCells(r.Spent)...)...)
	}
	l.Add(append([]string{"total"}, spentCells(found.Total)...)...)
	a.Print(l)
	if found.Omitted > 0 {
		a.Infof("%s more, which are in the total: `--limit` shows them", number.Plural(found.Omitted, "row"))
	}
	if t := found.Total; t.EstimatedUSD > 0 {
		a.Infof("~ %s of it by the list of prices, %s as the providers say", terminal.Dollars(t.EstimatedUSD), terminal.Dollars(statedOf(t)))
	}
	if n := found.Total.Unmetered; n > 0 {
		a.Infof("of %s no tokens are known: no provider stated them, or what did was forgotten", number.Plural(n, "turn"))
	}
	for _, m := range found.Unpriced {
		a.Infof("no price is known of %s: %s are not in the cost; `cmemd usage --help` says how to add it",
			terminal.VisibleLine(terminal.NameOfModel(m.Provider, m.Model)), number.Plural(m.Tokens, "token"))
	}
	return nil
}

// usageName is what a row is about.
func usageName(a *terminal.App, by api.UsageBy, r api.UsageRow) string {
	switch by {
	case api.UsageBySession:
		return a.ShownSession(r.Session)
	case api.UsageByProvider:
		return r.Provider
	case api.UsageByModel:
		return terminal.NameOfModel(r.Provider, r.Model)
	case api.UsageByOutcome:
		name := strings.TrimSpace(string(r.Result) + " " + string(r.Failure))
		if r.Probe {
			name = "probe: " + name
		}
		return name
	}
	return r.Day
}

func spentCells(s api.Spent) []string {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	return []string{
		number(s.Turns), number(s.Again), number(s.Calls), terminal.Size(s.PromptBytes), number(s.Input), number(s.Cached),
		number(s.Output), terminal.CostOf(s),
	}
}

// statedOf is what of the cost providers state, without what is left over where two like numbers are subtracted.
func statedOf(s api.Spent) float64 { return math.Round((s.USD-s.EstimatedUSD)*1e9) / 1e9 }
