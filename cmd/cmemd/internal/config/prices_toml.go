package config

import (
	"fmt"
	"math"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/tomledit"
)

// maxPrice is beyond what a million tokens cost anywhere: a slip of the hand.
const maxPrice = 1e6

// parsePrices reads a file of prices. An error begins with the file's name and the line, and names the key.
func parsePrices(data string) (PriceList, error) {
	lines, err := tomledit.Lines([]byte(data))
	if err != nil {
		return nil, fmt.Errorf("%s:%w", pricesFile, tomlError(err))
	}
	r := priceReader{}
	for _, line := range lines {
		if err := r.take(line); err != nil {
			return nil, err
		}
	}
	if err := r.finish(); err != nil {
		return nil, err
	}
	return r.found, nil
}

// priceReader puts entries together, one line at a time.
type priceReader struct {
	found PriceList
	entry price
	line  int             // where the entry begins; 0: none has
	given map[string]bool // its keys
}

func (r *priceReader) take(line tomledit.Line) error {
	key := strings.Join(line.Key, ".")
	switch {
	case line.Table && key == "price" && line.Path != key: // one of an array
		if err := r.finish(); err != nil {
			return err
		}
		r.entry, r.line, r.given = price{}, line.Number, map[string]bool{}
		return nil
	case line.Table:
		return badPrice(line.Number, key, "is no table here: each price begins with [[price]]")
	case r.line == 0:
		return badPrice(line.Number, key, "stands before the first [[price]]")
	}
	key = strings.TrimPrefix(key, "price.")
	r.given[key] = true
	return r.set(key, line.Number, line.Value)
}

// finish checks the entry that ends, and keeps it.
func (r *priceReader) finish() error {
	if r.line == 0 {
		return nil
	}
	for _, key := range []string{"provider", "model", "input", "cached", "output"} {
		if !r.given[key] {
			return badPrice(r.line, key, "is missing in this [[price]]")
		}
	}
	if r.found.holds(r.entry) {
		return badPrice(r.line, "model", fmt.Sprintf("%q of provider %q has a price above already", r.entry.Model, r.entry.Provider))
	}
	r.found = append(r.found, r.entry)
	return nil
}

func (r *priceReader) set(key string, line int, value any) (err error) {
	switch key {
	case "provider":
		r.entry.Provider, err = priceText(line, key, value)
		if err == nil && strings.Contains(r.entry.Provider, "*") {
			err = badPrice(line, key, "names one provider: there is no * in it")
		}
	case "model":
		r.entry.Model, err = priceText(line, key, value)
		if i := strings.Index(r.entry.Model, "*"); err == nil && i >= 0 && i < len(r.entry.Model)-1 {
			err = badPrice(line, key, "may have a * at its end alone")
		}
	case "input":
		r.entry.Input, err = priceNumber(line, key, value)
	case "cached":
		r.entry.cached, err = priceNumber(line, key, value)
	case "output":
		r.entry.Output, err = priceNumber(line, key, value)
	case "date":
		if _, ok := value.(toml.LocalDate); !ok {
			err = badPrice(line, key, "must be a day such as 2026-01-31, without quotes")
		}
	default:
		err = badPrice(line, key, "is no key here: there are provider, model, input, cached, output and date")
	}
	return err
}

func badPrice(line int, key, why string) error {
	return fmt.Errorf("%s:%d: %s %s", pricesFile, line, terminal.VisibleLine(key), terminal.VisibleLine(why))
}

func priceText(line int, key string, value any) (string, error) {
	text, _ := value.(string)
	if text == "" {
		return "", badPrice(line, key, `must be a text such as "openai"`)
	}
	return text, nil
}

func priceNumber(line int, key string, value any) (float64, error) {
	n := math.NaN()
	switch v := value.(type) {
	case int64:
		n = float64(v)
	case float64:
		n = v
	}
	if !(n >= 0 && n <= maxPrice) {
		return 0, badPrice(line, key, fmt.Sprintf("must be a number of US dollars a million tokens, from 0 to %d", int(maxPrice)))
	}
	return n, nil
}
