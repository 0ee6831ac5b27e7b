package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/internal/setting"
)

// TestRecordedSettingsAreThoseOfTheDaemon has settings read as a daemon records them, with each by which turns are decided set
// to something else than its default: what is read is what the daemon goes by.
func TestRecordedSettingsAreThoseOfTheDaemon(t *testing.T) {
	t.Parallel()
	l, standard := Standard(), Standard().Values()
	for key, value := range map[string]string{
		"provider": "openai", "playback_file": "/p", "slots": "7", "turn_timeout": "59s", "passivate": "11m", "idle_stop": "31m",
		"session_silence": "25h", "max_attempts": "4", "max_restarts": "11", "restart_window": "61s", "max_consecutive": "6",
		"restart_delay": "501ms", "restart_delay_max": "31s", "quarantine_first": "62s", "quarantine_max": "2h", "pause_first": "63s",
		"pause_max": "32m", "no_yield_max": "26", "no_yield_window": "25h", "held_max_inputs": "10001", "held_max_age": "337h", "policy": "supervised", "max_unparseable": "6",
		"unparseable_window": "64s", "unparseable_every": "12m", "fallbacks": "claude-cli, gemini", "summary_provider": "anthropic",
		"summary_model": "large", "trivial_provider": "extractive", "trivial_model": "none", "budget_tokens_day": "1000001",
		"budget_tokens_session": "1001", "budget_usd_day": "2.50", "budget_usd_session": "0.05", "claude_cli_model": "c",
		"anthropic_model": "a", "openai_model": "o", "gemini_model": "g",
	} {
		l.mustApply(t, key, value)
	}
	rules := l.Rules()
	if d := cmp.Diff(session.DefaultRules(), rules); d == "" || rules.Outputs == nil {
		t.Fatal("the rules were not set")
	}
	recorded := l.Values()
	for _, s := range l.Rows() {
		if recorded[s.Key] == standard[s.Key] {
			t.Errorf("%s has its default: this test says nothing of it", s.Key)
		}
	}
	got, bad := setting.Read(recorded)
	if d := cmp.Diff(l.InForce, got); d != "" || bad != nil {
		t.Errorf("%v (-daemon +recorded):\n%s", bad, d)
	}
}

func (l *Loaded) mustApply(t *testing.T, key, value string) {
	t.Helper()
	if err := l.apply(configLine{where: "test", key: key, name: key, value: value, kind: setting.KindText, untyped: true}); err != nil {
		t.Fatal(err)
	}
}

// TestRoutesInForceAreThoseOfTheDaemon reads whom a daemon may ask, by the names under which it asks them.
func TestRoutesInForceAreThoseOfTheDaemon(t *testing.T) {
	t.Parallel()
	for _, lines := range []map[string]string{
		{},
		{"provider": "openai", "openai_model": "m", "fallbacks": "claude-cli, extractive"},
		{"provider": "openai", "openai_model": "m", "summary_model": "large", "trivial_provider": "extractive"},
		{"provider": "openai", "openai_model": "m", "summary_model": "m", "trivial_model": "small"},
		{"provider": "openai", "openai_model": "m", "summary_model": "small", "trivial_model": "small"},
		{"provider": "extractive", "trivial_provider": "claude-cli", "trivial_model": "tiny", "claude_cli_model": "tiny"},
	} {
		l := Standard()
		for key, value := range lines {
			l.mustApply(t, key, value)
		}
		var want []string
		for _, who := range l.Configured() {
			want = append(want, l.Called(who))
		}
		recorded, _ := setting.Read(l.Values())
		routes := recorded.Routes()
		if d := cmp.Diff(want, routes.Names()); d != "" {
			t.Errorf("%v (-daemon +recorded):\n%s", lines, d)
		}
		for _, c := range routes.Providers {
			if c.Free != setting.IsFree(c.Provider) {
				t.Errorf("%s is free: %v", c.Provider, c.Free)
			}
		}
	}
}
