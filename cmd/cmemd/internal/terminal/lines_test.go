package terminal

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/health"
)

func TestDollars(t *testing.T) {
	t.Parallel()
	for usd, want := range map[float64]string{0: "$0", 1e-9: "<$0.0001", 0.0001: "$0.0001", 0.01234: "$0.0123", 0.09999: "$0.10", 0.5: "$0.50", 1: "$1.00", 1234.567: "$1234.57"} {
		if got := Dollars(usd); got != want {
			t.Errorf("%v: got %s, want %s", usd, got, want)
		}
	}
}

func TestCompareVersions(t *testing.T) {
	t.Parallel()
	order := []string{
		"0.1.0-0.20260131120000-abcdefabcdef", "0.9.9", "1.0.0-SNAPSHOT-6b50214", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta.2",
		"1.0.0-beta.11", "v1.0.0-rc.1", "1.0.0", "v1.0.1-0.20260131120000-abcdefabcdef+dirty", "v1.0.1+build.5", "1.2.0", "1.10.0", "v2.0.0",
	}
	for i, a := range order {
		for j, b := range order {
			if got, ok := CompareVersions(a, b); got != cmp.Compare(i, j) || ok == (i == j && strings.HasSuffix(a, "+dirty")) {
				t.Errorf("CompareVersions(%q, %q) = %v, %v", a, b, got, ok)
			}
		}
	}
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"dev", "1.0.0", false}, {"1.0.0", "dev", false}, {"dev", "dev", false}, {"1.0.0", "", false}, {"1.0", "0.1.0", false}, {"2.0.0.0", "1.0.0", false},
		{"1.0.0", "v1.0.0", true}, {"1.0.0", "1.0.0+x", true}, {"1.0.0", "1.0.0+dirty", false}, {"1.0.0+dirty", "1.0.0+dirty", false},
		{"0.0.0-20260131120000-abcdefabcdef", "0.0.0-20260131120000-abcdefabcdef", true}, // one commit
		{"0.0.0-20260131120000-abcdefabcdef", "0.1.0", false},                            // of a clone without its tags
	} {
		if got, ok := CompareVersions(c.a, c.b); got != 0 || ok != c.want {
			t.Errorf("CompareVersions(%q, %q) = %v, %v", c.a, c.b, got, ok)
		}
	}
	if got, ok := CompareVersions("0.0.0-20260201120000-abcdefabcdef", "0.0.0-20260131120000-ffffffffffff"); got <= 0 || !ok {
		t.Errorf("a later commit: %v, %v", got, ok)
	}
}

func TestIsRelease(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{
		"0.1.0": true, "v0.1.0": true, "0.2.0-rc.1": true, "0.1.0+dirty": false, "0.1.1-0.20260131120000-abcdefabcdef": false, "dev": false, "": false,
	} {
		if got := IsRelease(version); got != want {
			t.Errorf("%q: got %v", version, got)
		}
	}
}

func TestRespawnLine(t *testing.T) {
	t.Parallel()
	r := health.Respawn{At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local), From: 3, To: 4}
	crashed, unparseable := r, r
	crashed.Cause, crashed.Counted = "crash", events.Counted{InWindow: 2, Consecutive: 3}
	crashed.Limits = events.Limits{MaxRestarts: 5, Window: time.Minute, MaxConsecutive: 4}
	unparseable.Cause, unparseable.Counted = "unparseable", events.Counted{Unparseable: 6}
	unparseable.Limits = events.Limits{Unparseable: 5, Window: 10 * time.Minute, Every: time.Hour}
	for _, c := range []struct {
		respawn health.Respawn
		want    string
	}{
		{crashed, "2026-03-01 12:00: crash, generation 3 to 4, 2 in 1m (at most 5), 3 in a row (at most 4)"},
		{unparseable, "2026-03-01 12:00: unparseable, generation 3 to 4, 6 unparseable outputs in 10m (a respawn from 5 on, at most every 1h)"},
	} {
		if got := RespawnLine(c.respawn); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
