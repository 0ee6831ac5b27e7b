package config

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
)

const onePrice = "[[price]]\nprovider = \"openai\"\nmodel = \"m\"\ninput = 1\ncached = 0.1\noutput = 2_0.5\n"

func TestPricesFile(t *testing.T) {
	t.Parallel()
	got, err := parsePrices("# mine\n" + onePrice + "date = 2026-01-31\n\n[[price]]\nprovider='x'\nmodel='y*'\ninput=0\ncached=0\noutput=1e1\n")
	want := PriceList{
		{"openai", "m", 1, 0.1, 20.5}, {"x", "y*", 0, 0, 10},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(price{})); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, c := range []struct{ name, file, want string }{
		{"no TOML", "[[price]]\nprovider = openai\n", "prices.toml:2: "},
		{"a key twice", onePrice + "input = 2\n", "prices.toml:7: "},
		{"before any entry", "input = 1\n", "prices.toml:1: input stands before the first [[price]]"},
		{"a table", "[prices]\n", "prices.toml:1: prices is no table here"},
		{"a table within an entry", onePrice + "[price.more]\n", "prices.toml:7: price.more is no table here"},
		{"an unknown key", onePrice + "\nimput = 1\n", "prices.toml:8: imput is no key here: there are provider, model, input"},
		{"a dotted key", "[[price]]\ninput.usd = 1\n", "prices.toml:2: input.usd is no key here"},
		{"a missing key", "\n[[price]]\nprovider = \"x\"\nmodel = \"y\"\ninput = 1\noutput = 2\n", "prices.toml:2: cached is missing"},
		{"a missing key of an earlier entry", "[[price]]\n" + onePrice, "prices.toml:1: provider is missing"},
		{"a price below zero", "[[price]]\ninput = -1\n", "prices.toml:2: input must be a number of US dollars a million tokens, from 0 to 1000000"},
		{"a price beyond reason", "[[price]]\n\noutput = 1000001\n", "prices.toml:3: output must be a number"},
		{"no number", "[[price]]\ncached = nan\n", "prices.toml:2: cached must be a number"},
		{"no end of a number", "[[price]]\ncached = inf\n", "prices.toml:2: cached must be a number"},
		{"a text for a price", "[[price]]\ncached = \"1\"\n", "prices.toml:2: cached must be a number"},
		{"a number for a model", "[[price]]\nmodel = 4\n", "prices.toml:2: model must be a text"},
		{"an empty provider", "[[price]]\nprovider = \"\"\n", "prices.toml:2: provider must be a text"},
		{"any provider", "[[price]]\nprovider = \"*\"\n", "prices.toml:2: provider names one provider"},
		{"a star within", "[[price]]\nmodel = \"a*b\"\n", "prices.toml:2: model may have a * at its end alone"},
		{"two stars", "[[price]]\nmodel = \"a**\"\n", "prices.toml:2: model may have a * at its end alone"},
		{"a date in quotes", "[[price]]\ndate = \"2026-01-31\"\n", "prices.toml:2: date must be a day such as 2026-01-31"},
		{"a date with a time", "[[price]]\ndate = 2026-01-31T00:00:00\n", "prices.toml:2: date must be a day"},
		{"the same twice", onePrice + onePrice, "prices.toml:7: model \"m\" of provider \"openai\" has a price above already"},
	} {
		if _, err := parsePrices(c.file); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s...", c.name, err, c.want)
		}
	}
}

// TestWhichPriceHolds: the one that names the model most exactly; any of a home's own before those that are known.
func TestWhichPriceHolds(t *testing.T) {
	t.Parallel()
	entry := func(provider, model string, input float64) price {
		return price{Provider: provider, Model: model, Input: input}
	}
	ps := Prices{
		own:   PriceList{entry("a", "own*", 1), entry("a", "x-9", 2)},
		Known: PriceList{entry("a", "*", 3), entry("a", "x*", 4), entry("a", "x", 5), entry("a", "x-5", 6), entry("a", "own-exact", 7), entry("b", "y", 8)},
	}
	for _, c := range []struct {
		provider, model string
		want            float64 // of a million tokens; -1: not known
	}{
		{"a", "x", 5}, {"a", "x-20251001", 5}, {"a", "x-2025-10-01", 5}, {"a", "x-20251301", 4}, {"a", "x-5", 6}, {"a", "x-5-20251001", 6},
		{"a", "x-5-5", 4}, {"a", "x-9", 2}, {"a", "z", 3}, {"a", "", 3}, {"a", "own-exact", 1}, {"b", "y", 8}, {"b", "y-5", -1}, {"b", "", -1}, {"c", "x", -1},
	} {
		got, ok := ps.Cost(c.provider, c.model, events.Usage{Input: 1e6})
		if !ok {
			got = -1
		}
		if got != c.want {
			t.Errorf("%s %s: got %v, want %v", c.provider, c.model, got, c.want)
		}
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	ps := Prices{own: PriceList{{Provider: "p", Model: "m", Input: 10, cached: 1, Output: 100}}}
	for _, c := range []struct {
		usage events.Usage
		want  float64
	}{
		{events.Usage{}, 0},
		{events.Usage{Input: 1000}, 0.01},
		{events.Usage{Input: 1000, Cached: 400}, 0.0064},
		{events.Usage{Input: 1000, Cached: 1000, Output: 10}, 0.002},
		{events.Usage{Input: 5, Cached: 1000}, 0.001}, // a provider that counts wrongly is never paid back
	} {
		if got, ok := ps.Cost("p", "m", c.usage); !ok || math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v: got %v, %t, want %v", c.usage, got, ok, c.want)
		}
	}
}

// TestKnownPrices: what comes with the program can be read, says since when it is so, and a model's name of the day finds it.
func TestKnownPrices(t *testing.T) {
	t.Parallel()
	ps, err := LoadPrices(t.TempDir())
	if err != nil || len(ps.Known) == 0 || len(ps.own) > 0 {
		t.Fatalf("got %d prices, %d of the home, %v", len(ps.Known), len(ps.own), err)
	}
	for _, p := range ps.Known {
		if p.cached > p.Input || p.Input > p.Output {
			t.Errorf("%s %s: got %+v, want cached <= input <= output", p.Provider, p.Model, p)
		}
	}
	for i, entry := range strings.Split(knownPrices, "[[price]]")[1:] {
		if _, date, _ := strings.Cut(entry, "\ndate = "); date < "2026" {
			t.Errorf("price %d does not say since when it is so, or is older: %q", i+1, date)
		}
	}
	for _, c := range []struct {
		provider, model string
		known           bool
	}{
		{"anthropic", "claude-haiku-4-5-20251001", true}, {"anthropic", "claude-haiku-5-5", true}, {"openai", "gpt-5-mini-2025-08-07", true},
		{"anthropic", "claude-haiku-6", false}, {"openai", "gpt-5-minimal", false}, {"openai", "llama3", false}, {"extractive", "", true},
		{"claude-cli", "claude-haiku-4-5-20251001", true}, {"claude-cli", "opus", true}, {"claude-cli", "claude-haiku-6", false}, {"anthropic", "opus", false},
	} {
		if _, ok := ps.Cost(c.provider, c.model, events.Usage{Input: 1}); ok != c.known {
			t.Errorf("%s %s: got known %t", c.provider, c.model, ok)
		}
	}
}

func TestPricesOfAHome(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path := filepath.Join(home, pricesFile)
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(strings.Replace(onePrice, `"m"`, `"gpt-*"`, 1))
	ps, err := LoadPrices(home)
	if err != nil {
		t.Fatal(err)
	}
	if usd, ok := ps.Cost("openai", "gpt-5-mini", events.Usage{Input: 1e6}); !ok || usd != 1 {
		t.Errorf("a home's own, of many models: got %v, %t, want 1", usd, ok)
	}
	write("[[price]]\nimput = 1\n")
	if _, err := LoadPrices(home); err == nil || !strings.Contains(err.Error(), "prices.toml:2: imput") {
		t.Errorf("got %v", err)
	}
	write(strings.Repeat("#", maxPrices+1))
	if _, err := LoadPrices(home); err == nil || !strings.Contains(err.Error(), "at most 64") {
		t.Errorf("a file that is too long: got %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadPrices(home); err == nil {
		t.Error("a folder was taken for prices")
	}
}

func FuzzPrices(f *testing.F) {
	f.Add(onePrice)
	f.Add("[[price]]\ndate = 2026-01-31")
	f.Add("price.x = 1\n[[price]]")
	f.Fuzz(func(t *testing.T, data string) {
		found, err := parsePrices(data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), pricesFile+":") {
				t.Errorf("an error without its place: %v", err)
			}
			return
		}
		for _, p := range found {
			if p.Provider == "" || p.Model == "" || !(p.Input >= 0 && p.cached >= 0 && p.Output >= 0 && p.Input+p.cached+p.Output <= 3*maxPrice) {
				t.Errorf("taken: %+v", p)
			}
		}
	})
}
