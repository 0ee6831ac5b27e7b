package terminal

import (
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

func TestIsNewer(t *testing.T) {
	t.Parallel()
	order := []string{"0.9.9", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta.2", "1.0.0-beta.11", "v1.0.0-rc.1", "1.0.0", "v1.0.1+build.5", "1.2.0", "1.10.0", "v2.0.0"}
	for i, a := range order {
		for j, b := range order {
			if got := IsNewer(a, b); got != (i > j) {
				t.Errorf("isNewer(%q, %q) = %v", a, b, got)
			}
		}
	}
	for _, c := range [][2]string{{"dev", "1.0.0"}, {"1.0.0", "dev"}, {"1.0.0", ""}, {"1.0", "0.1.0"}, {"2.0.0.0", "1.0.0"}, {"1.0.0", "1.0.0+x"}} {
		if IsNewer(c[0], c[1]) {
			t.Errorf("isNewer(%q, %q)", c[0], c[1])
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
