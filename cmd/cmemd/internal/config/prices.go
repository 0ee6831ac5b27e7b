package config

import (
	"cmp"
	_ "embed"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer/anthropic"
	"github.com/cmemd/cmemd/internal/observer/claudecli"
	"github.com/cmemd/cmemd/internal/setting"
	"github.com/cmemd/cmemd/projections/usage"
)

// knownPrices are those that come with the program.
//
//go:embed prices.toml
var knownPrices string

// pricesFile is the name of a home's own prices.
const pricesFile = "prices.toml"

// maxPrices bounds that file: some five hundred prices.
const maxPrices = 64 << 10

// A price is what tokens of a model cost.
type price struct {
	Provider string
	Model    string  // a name; or with * at the end the beginning of one
	Input    float64 // US dollars a million, as all
	cached   float64 // of input that was read from a cache
	Output   float64
}

// PriceList is the prices of one file.
type PriceList []price

// Prices are those that hold in a home. Where its own name a model, however roughly, those that are known do not count.
type Prices struct{ own, Known PriceList }

// LoadPrices returns the prices that hold in a home. What is wrong in a file is named by its line and key.
func LoadPrices(home string) (ps Prices, err error) {
	if ps.Known, err = parsePrices(knownPrices); err != nil {
		return ps, fmt.Errorf("built-in %w", err)
	}
	path := filepath.Join(home, pricesFile)
	data, err := readFile(path, "prices", maxPrices)
	if err != nil {
		return ps, err
	}
	ps.own, err = parsePrices(string(data))
	return ps, terminal.Advise(err, "correct %s; each [[price]] has provider, model, input, cached and output, and may have a date", path)
}

// lookup returns the price of a provider's model, which is that of the entry that names it most exactly.
func (ps PriceList) lookup(provider, model string) (price, bool) {
	best, length := price{}, -1
	for _, p := range ps {
		n := p.names(provider, model)
		if n > length {
			best, length = p, n
		}
	}
	return best, length >= 0
}

// names is how exactly p names a model: the length of what is the same, one more where nothing is left open; -1: not at all.
func (p price) names(provider, model string) int {
	if p.Provider != provider {
		return -1
	}
	beginning, open := strings.CutSuffix(p.Model, "*")
	rest, begins := strings.CutPrefix(model, beginning)
	switch {
	case !begins:
		return -1
	case open:
		return len(beginning)
	case rest == "" || isDate(rest):
		return len(beginning) + 1
	}
	return -1
}

// isDate reports whether rest is the day of a release behind a model's name.
func isDate(rest string) bool {
	_, short := time.Parse("-20060102", rest)
	_, long := time.Parse("-"+time.DateOnly, rest)
	return short == nil || long == nil
}

// lookup returns the price of a provider's model. Where none is known of claude-cli, it is that of the service that it asks.
func (ps Prices) lookup(provider, model string) (price, bool) {
	for _, list := range []PriceList{ps.own, ps.Known} {
		if p, ok := list.lookup(provider, model); ok {
			return p, true
		}
	}
	switch service := setting.ServiceOf(provider); {
	case service != provider:
		return ps.lookup(service, model)
	case service == claudecli.Name:
		return ps.lookup(anthropic.Name, model)
	}
	return price{}, false
}

// Cost is what tokens of a provider's model cost in US dollars; ok is false where no price is known.
func (ps Prices) Cost(provider, model string, u events.Usage) (usd float64, ok bool) {
	p, ok := ps.lookup(provider, model)
	const million = 1e6
	fresh := max(u.Input-u.Cached, 0)
	return (float64(fresh)*p.Input + float64(u.Cached)*p.cached + float64(u.Output)*p.Output) / million, ok
}

// Cheapest is the model of a provider whose input costs least by the list that comes with the program; empty: it has none of that
// provider's.
func (ps Prices) Cheapest(provider string) (model string) {
	least := 0.0
	for _, p := range ps.Known {
		if p.Provider == provider && !strings.HasSuffix(p.Model, "*") && (model == "" || p.Input < least) {
			model, least = p.Model, p.Input
		}
	}
	return model
}

// holds reports whether an entry of ps names the same as p.
func (ps PriceList) holds(p price) bool {
	return slices.ContainsFunc(ps, func(q price) bool { return q.Provider == p.Provider && q.Model == p.Model })
}

// TurnCost is what a turn cost in US dollars: what its provider stated, and what the rest cost by UncostedUSD, as far as that is known.
func (ps Prices) TurnCost(provider, asked string, b events.Bill) float64 {
	usd, _ := ps.UncostedUSD(provider, asked, b)
	return b.Cost + usd
}

// UncostedUSD is what those tokens of a turn cost in US dollars of which its provider stated nothing: by the price of the model that
// answered or else of the one that was asked. ok is false where no price is known.
func (ps Prices) UncostedUSD(provider, asked string, b events.Bill) (usd float64, ok bool) {
	return usage.Price(ps.Cost).Of(provider, cmp.Or(b.Model, asked), asked, b.UncostedUsage())
}
