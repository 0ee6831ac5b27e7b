package setup

import (
	"testing"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/internal/api"
)

// TestIsObserved: nothing waits only where views know all of the log, no input is pending, and no turn runs or waits for its place, of
// which a summary is one that no pending input tells of.
func TestIsObserved(t *testing.T) {
	t.Parallel()
	lagging := []api.ViewLag{{Name: "outcomes"}, {Name: "health", Lag: 1}}
	for name, c := range map[string]struct {
		status api.Status
		want   bool
	}{
		"nothing":                  {api.Status{Views: []api.ViewLag{{Name: "outcomes"}}}, true},
		"a view that is behind":    {api.Status{Views: lagging}, false},
		"an input":                 {api.Status{Inputs: api.Balance{Balance: session.Balance{Captured: 1, Pending: 1}}}, false},
		"a request":                {api.Status{Actors: actors.Status{Waiting: 1}}, false},
		"a turn":                   {api.Status{Actors: actors.Status{Status: provider.Status{Turns: 1}}}, false},
		"a session without a slot": {api.Status{Actors: actors.Status{Status: provider.Status{Queued: 1}}}, false},
	} {
		if got := isObserved(c.status); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
