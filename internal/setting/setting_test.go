package setting

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/actors/policy"
)

func TestBytes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"0": 0, "1": 1, "1KiB": 1024, "64MiB": 64 << 20, "3GiB": 3 << 30, "1TiB": 1 << 40} {
		if got, ok := ParseBytes(text); !ok || got != want || FormatBytes(want) != text {
			t.Errorf("ParseBytes(%q) = %d, %v; formatBytes(%d) = %q", text, got, ok, want, FormatBytes(want))
		}
	}
	for _, bad := range []string{"", "MiB", "-1", "1.5MiB", "1 MiB", "64mb", "9000000TiB"} {
		if n, ok := ParseBytes(bad); ok {
			t.Errorf("ParseBytes(%q) = %d", bad, n)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 1<<50).Draw(t, "n")
		if got, ok := ParseBytes(FormatBytes(n)); !ok || got != n {
			t.Fatalf("%d is written %q and read %d", n, FormatBytes(n), got)
		}
	})
}

func TestMoney(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", ".", ".5", "1.", "1.234", "-1", "+1", "1e3", "0x1p4", "1,5", "NaN", "$1"} {
		if usd, ok := parseMoney(bad); ok {
			t.Errorf("parseMoney(%q) = %v", bad, usd)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		cents := rapid.Int64Range(0, maxBudgetUSD*100).Draw(t, "cents")
		usd := float64(cents) / 100
		if got, ok := parseMoney(formatMoney(usd)); !ok || got != usd {
			t.Fatalf("%v is written %q and read %v", usd, formatMoney(usd), got)
		}
	})
}

// TestRoutes reads whom recorded settings let be asked.
func TestRoutes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		settings map[string]string
		want     []string
	}{
		"nothing on record": {nil, nil},
		"a provider":        {map[string]string{"provider": "openai", "fallbacks": ""}, []string{"openai"}},
		"fallbacks":         {map[string]string{"provider": "openai", "fallbacks": "claude-cli, extractive"}, []string{"openai", "claude-cli", "extractive"}},
		"tiers": {map[string]string{"provider": "openai", "summary_model": "large", "trivial_provider": "extractive"},
			[]string{"openai", "openai-summary", "extractive"}},
		"one tier for both": {map[string]string{"provider": "openai", "summary_model": "m", "trivial_model": "m"}, []string{"openai", "openai-summary"}},
		"a tier that is the provider's own model": {map[string]string{"provider": "claude-cli", "claude_cli_model": "m", "trivial_model": "m"},
			[]string{"claude-cli"}},
	} {
		v, _ := Read(c.settings)
		if d := cmp.Diff(c.want, v.Routes().Names()); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// TestUnparseableLimits holds that a daemon takes less than a policy can run with, and that replay reads all the same what is
// on record.
func TestUnparseableLimits(t *testing.T) {
	t.Parallel()
	var v InForce
	short := map[string]string{"max_unparseable": "1", "unparseable_window": "999ms", "unparseable_every": "999ms"}
	found := 0
	for _, r := range v.SuperviseRows() {
		if text, ok := short[r.Key]; ok {
			found++
			if r.Set(text) {
				t.Errorf("%s = %s is taken", r.Key, text)
			}
		}
	}
	got, bad := Read(short)
	want := policy.Unparseable{Max: 1, Window: 999 * time.Millisecond, Every: 999 * time.Millisecond}
	if found != len(short) || len(bad) > 0 || got.Unparseable != want {
		t.Errorf("%d rows; got %+v, bad %v, want %+v", found, got.Unparseable, bad, want)
	}
}
