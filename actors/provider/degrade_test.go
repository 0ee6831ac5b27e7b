package provider

import (
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
)

// TestDegrade: three sessions within ten minutes, the first of them at their end exactly.
func TestDegrade(t *testing.T) {
	t.Parallel()
	now := time.Unix(10_000, 0)
	for name, c := range map[string]struct {
		ago  []time.Duration
		want string
	}{
		"none":                {nil, ""},
		"two":                 {[]time.Duration{0, 0}, ""},
		"three":               {[]time.Duration{0, time.Minute, 10 * time.Minute}, "3 sessions were quarantined within 10m0s"},
		"three, one too long": {[]time.Duration{0, time.Minute, 10*time.Minute + 1}, ""},
	} {
		q := Quarantines{}
		for i, ago := range c.ago {
			q[events.SessionID{byte(i)}] = now.Add(-ago)
		}
		if got := q.Degrade(now); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
