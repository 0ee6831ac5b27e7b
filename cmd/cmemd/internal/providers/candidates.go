package providers

import (
	"cmp"
	"os/exec"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer/claudecli"
	"github.com/cmemd/cmemd/internal/setting"
)

// A Candidate is a model that could observe here: its client is installed, or a key for its service is at hand.
type Candidate struct {
	Provider string   `json:"provider"`
	Model    string   `json:"model"`
	By       string   `json:"by"`                // the client, or the variable that holds the key
	DayUSD   *float64 `json:"day_usd,omitempty"` // what the questions of a day cost at list prices; nil: no price is known
}

// Candidates lists the models that could observe here, and what their questions would cost on a day. Of a service it is the model that is
// set, else the cheapest one of the list of prices; a service of which neither is known is left out.
func Candidates(a *terminal.App, l *config.Loaded, day DailyWork) (all []Candidate, err error) {
	prices, err := config.LoadPrices(l.Home)
	if err != nil {
		return nil, err
	}
	asked := events.Usage{Input: day.Tokens}
	for _, p := range setting.Providers() {
		c := Candidate{Provider: p.Name, Model: l.ModelOf(p.Name)}
		switch {
		case p.Name == claudecli.Name:
			c.By, _ = exec.LookPath(cmp.Or(l.ClaudePath, "claude"))
		case p.New != nil && a.Getenv(p.KeyEnv) != "":
			c.By = p.KeyEnv
			c.Model = cmp.Or(c.Model, prices.Cheapest(p.Name))
		}
		if c.By == "" || c.Model == "" {
			continue
		}
		if usd, ok := prices.Cost(c.Provider, c.Model, asked); ok && day.Days > 0 {
			c.DayUSD = &usd
		}
		all = append(all, c)
	}
	return all, nil
}
