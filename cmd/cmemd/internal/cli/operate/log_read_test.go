package operate

import (
	"testing"

	"github.com/cmemd/cmemd/events"
)

func TestParseRange(t *testing.T) {
	t.Parallel()
	const end = 1<<64 - 1
	for text, want := range map[string][2]events.Position{"": {1, end}, "7": {7, end}, "7-": {7, end}, "7-9": {7, 9}, "7-7": {7, 7}} {
		from, to, ok := parseRange(text)
		if got := [2]events.Position{from, to}; !ok || got != want {
			t.Errorf("parseRange(%q) = %v, %v, want %v", text, got, ok, want)
		}
	}
	for _, bad := range []string{"0", "-", "-3", "x", "9-7", "1-2-3", "1 - 2", "99999999999999999999"} {
		if from, to, ok := parseRange(bad); ok {
			t.Errorf("parseRange(%q) = %d, %d", bad, from, to)
		}
	}
}
