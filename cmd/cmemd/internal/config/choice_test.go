package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/setting"
)

func TestChoiceSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file string
		environ    []string
		want       setting.Choice
		err        string // part of it
	}{
		{name: "nobody else"},
		{name: "with commas", file: `fallbacks = "openai, extractive"` + "\n" + `openai_model = "m"` + "\n" + `provider = "claude-cli"`,
			want: setting.Choice{Fallbacks: []string{"openai", "extractive"}}},
		{name: "as a list", file: `fallbacks = ["claude-cli"]`, want: setting.Choice{Fallbacks: []string{"claude-cli"}}},
		{name: "by a variable", environ: []string{"CMEMD_FALLBACKS=claude-cli"}, want: setting.Choice{Fallbacks: []string{"claude-cli"}}},
		{name: "an empty list", file: "fallbacks = []"},
		{name: "blanks", file: `fallbacks = "  "`},
		{name: "numbers", file: "budget_tokens_day = 500000\nbudget_tokens_session = 1\nbudget_usd_day = 2.5\nbudget_usd_session = \"0.05\"",
			want: setting.Choice{Budget: policy.Budget{TokensDay: 500000, TokensSession: 1, USDDay: 2.5, USDSession: 0.05}}},
		{name: "whole dollars", file: "budget_usd_day = 3", want: setting.Choice{Budget: policy.Budget{USDDay: 3}}},
		{name: "tiers", file: "provider = \"claude-cli\"\nsummary_model = \"claude-sonnet-5\"\ntrivial_provider = \"extractive\"",
			want: setting.Choice{Summary: setting.Tier{Model: "claude-sonnet-5"}, Trivial: setting.Tier{Provider: "extractive"}}},
		{name: "a tier with the key of its provider", file: "summary_provider = \"openai\"\nsummary_model = \"m\"",
			want: setting.Choice{Summary: setting.Tier{Provider: "openai", Model: "m"}}},

		{name: "a slip", file: `fallbacks = "clade-cli"`, err: `config.toml:1: fallbacks = "clade-cli" is not allowed: it may be none or more of extractive, playback, claude-cli, anthropic, openai, gemini; did you mean claude-cli?`},
		{name: "a slip in a list", file: `fallbacks = ["openai", "gemeni"]`, err: "fallbacks = a list is not allowed: it may be none or more of extractive, playback, claude-cli, anthropic, openai, gemini; did you mean gemini?"},
		{name: "nothing between commas", file: `fallbacks = "claude-cli,,"`, err: "is not allowed"},
		{name: "a comma in a list", file: `fallbacks = ["claude-cli,extractive"]`, err: "fallbacks = a list is not allowed"},
		{name: "numbers in a list", file: `fallbacks = [1]`, err: "fallbacks = a list is not allowed"},
		{name: "no list", file: `provider = ["openai"]`, err: "provider = a list is not allowed"},
		{name: "twice", file: `fallbacks = "claude-cli, claude-cli"`, err: "fallbacks names claude-cli twice"},
		{name: "itself", file: `fallbacks = "extractive"`, err: "fallbacks names extractive, which is the provider itself: name others to be asked while it is paused"},
		{name: "without its model", file: `fallbacks = "openai"`, err: "fallbacks names openai, which needs openai_model, the model that it asks"},
		{name: "without its key", file: "fallbacks = [\"gemini\"]\ngemini_model = \"g\"\ngemini_key_env = \"\"", err: "fallbacks names gemini, which needs a key: set one of gemini_key_env"},
		{name: "without what it plays", file: `fallbacks = "playback"`, err: "fallbacks names playback, which needs playback_file"},
		{name: "a slip in a provider", file: `provider = "antropic"`, err: "did you mean anthropic?"},
		{name: "a slip in a tier", file: `trivial_provider = "openia"`, err: "extractive, playback, claude-cli, anthropic, openai, gemini, or empty; did you mean openai?"},
		{name: "a tier without its model", file: `summary_provider = "openai"`, err: "summary_provider = openai needs openai_model"},
		{name: "a tier without its key", file: "summary_provider = \"gemini\"\nsummary_model = \"g\"\ngemini_key_env = \"\"", err: "summary_provider = gemini needs a key"},
		{name: "a model for nobody", file: `summary_model = "m"`, err: "summary_model is set, and extractive asks no model that could be chosen: unset it, or let summary_provider name another one"},
		{name: "cents of cents", file: "budget_usd_day = 0.005", err: "budget_usd_day = 0.005 is not allowed: it may be an amount with at most two decimals, 0 to 100000"},
		{name: "debts", file: "budget_usd_session = -1", err: "budget_usd_session = -1 is not allowed"},
		{name: "too much", file: "budget_tokens_day = 2000000001", err: "it may be a whole number, 0 to 2000000000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l, err := LoadWithVariables(writeHome(t, c.file), c.environ)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("got error %v, want one with %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, l.Choice); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestMoneyNeedsPrices: a limit in US dollars is refused where nobody knows what is paid.
func TestMoneyNeedsPrices(t *testing.T) {
	t.Parallel()
	const service = "provider = \"openai\"\nopenai_model = \"my-own\"\nbudget_usd_day = 1\n"
	for name, c := range map[string]struct{ file, prices, err string }{
		"nobody is paid":             {file: "budget_usd_day = 1"},
		"of what is asked behind it": {file: "provider = \"claude-cli\"\nbudget_usd_session = 1"},
		"of a short name":            {file: "provider = \"claude-cli\"\nclaude_cli_model = \"sonnet\"\nbudget_usd_session = 1"},
		"it does not always say what it cost": {
			file: "provider = \"claude-cli\"\nclaude_cli_model = \"next\"\nbudget_usd_session = 1", err: "no price is known of claude-cli next"},
		"a known price":                  {file: "provider = \"anthropic\"\nanthropic_model = \"claude-haiku-4-5\"\nbudget_usd_day = 1"},
		"no price":                       {file: service, err: "no price is known of openai my-own"},
		"no price, and tokens are named": {file: strings.Replace(service, "budget_usd_day", "budget_tokens_day", 1)},
		"a price of its own":             {file: service, prices: "[[price]]\nprovider = \"openai\"\nmodel = \"my-*\"\ninput = 1\ncached = 1\noutput = 1\n"},
		"of what stands in": {
			file: "fallbacks = \"openai\"\nopenai_model = \"my-own\"\nbudget_usd_session = 0.5", err: "no price is known of openai my-own"},
		"of a tier": {
			file: "provider = \"anthropic\"\nanthropic_model = \"claude-haiku-4-5\"\nsummary_model = \"x\"\nbudget_usd_day = 1", err: "no price is known of anthropic x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := writeHome(t, c.file)
			if err := os.WriteFile(filepath.Join(home, pricesFile), []byte(c.prices), 0o600); err != nil {
				t.Fatal(err)
			}
			l, err := Load(home, nil)
			if err != nil {
				t.Fatal(err)
			}
			ps, err := LoadPrices(home)
			if err != nil {
				t.Fatal(err)
			}
			err = l.CheckPrices(ps)
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Fatalf("got %v, want %q", err, c.err)
			}
			if err != nil && !strings.Contains(terminal.NextStep(err), pricesFile) {
				t.Errorf("the next step is %q", terminal.NextStep(err))
			}
		})
	}
}
