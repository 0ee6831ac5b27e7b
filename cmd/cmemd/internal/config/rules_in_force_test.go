package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/internal/replay"
)

// TestRulesInForceAreThoseOfTheDaemon has replay read settings as a daemon records them, with every rule set to something
// else than its default: what it takes for the rules are the daemon's own.
func TestRulesInForceAreThoseOfTheDaemon(t *testing.T) {
	t.Parallel()
	l := Standard()
	for key, value := range map[string]string{
		"policy": "supervised", "slots": "7", "idle_stop": "31m", "session_silence": "25h", "max_attempts": "4", "max_restarts": "11",
		"restart_window": "61s", "max_consecutive": "6", "restart_delay": "501ms", "restart_delay_max": "31s",
		"quarantine_first": "62s", "quarantine_max": "2h", "pause_first": "63s", "pause_max": "32m", "held_max_inputs": "10001",
		"held_max_age": "337h",
	} {
		if err := l.apply(configLine{where: "test", key: key, name: key, value: value, kind: kindText, any: true}); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(session.Rules{}, session.Rules{Restarts: l.Rules().Restarts}); d == "" {
		t.Fatal("the rules were not set")
	}
	rules, pause, slots := replay.RulesInForce(l.Values())
	if d := cmp.Diff(l.Rules(), rules); d != "" {
		t.Errorf("rules (-daemon +replay):\n%s", d)
	}
	if want := (policy.Backoff{First: l.PauseFirst, Cap: l.PauseMax}); pause != want || slots != l.Slots {
		t.Errorf("got pauses %+v and %d slots, want %+v and %d", pause, slots, want, l.Slots)
	}
}

// TestRoutesInForceAreThoseOfTheDaemon has replay read whom a daemon may ask, by the names under which it asks them.
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
			if err := l.apply(configLine{where: "test", key: key, name: key, value: value, kind: kindText, any: true}); err != nil {
				t.Fatal(err)
			}
		}
		var want []string
		for _, who := range l.Configured() {
			want = append(want, l.Called(who))
		}
		routes, ok := replay.RoutesInForce(l.Values())
		if d := cmp.Diff(want, routes.Names()); d != "" || !ok {
			t.Errorf("%v: %v (-daemon +replay):\n%s", lines, ok, d)
		}
		for _, c := range routes.Providers {
			if c.Free != IsFree(c.Provider) {
				t.Errorf("%s is free: %v", c.Provider, c.Free)
			}
		}
	}
}
