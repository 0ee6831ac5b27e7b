package machines

import (
	"testing"
	"time"

	"github.com/cmemd/cmemd/internal/api"
)

func TestElsewhereLine(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.Local) // a Thursday
	waiting := func(ago time.Duration) api.ClusterWaiting {
		return api.ClusterWaiting{Name: "laptop", Seen: now.Add(-ago)}
	}
	for want, e := range map[string]api.Elsewhere{
		"gone here and in the store":                                               {Store: true},
		"gone here, in the store and on desktop":                                   {Store: true, Gone: []string{"desktop"}},
		"gone here; the store has not confirmed it yet":                            {},
		"gone here and in the store; laptop has not confirmed it yet":              {Store: true, Waiting: []api.ClusterWaiting{waiting(time.Minute)}},
		"gone here and in the store; laptop has not been seen since Tuesday 12:00": {Store: true, Waiting: []api.ClusterWaiting{waiting(48 * time.Hour)}},
		"gone here and in the store; laptop has not been seen since 2026-11-06":    {Store: true, Waiting: []api.ClusterWaiting{waiting(20 * 24 * time.Hour)}},
		"gone here and in the store; laptop has never been seen":                   {Store: true, Waiting: []api.ClusterWaiting{{Name: "laptop"}}},
	} {
		if got := ElsewhereLine(e, now); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
