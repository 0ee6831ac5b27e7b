package doctor

import (
	"strings"
	"testing"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/server"
)

// TestStatusOfStill: a view that goes no further is told with where it stands, why, and when it tries again, and status ends with 1;
// one that is rebuilt, or behind, is told alone.
func TestStatusOfStill(t *testing.T) {
	t.Parallel()
	why := "trying again at 12:00:01 because views.db: no space left on device"
	for _, c := range []struct {
		name  string
		views []api.ViewLag
		phase string
		line  string
		word  string
		exit  int
	}{
		{"well", []api.ViewLag{{Name: "views"}, {Name: "index"}}, server.PhaseReady, "up to date", "running", 0},
		{"starting", []api.ViewLag{{Name: "views", Lag: 3}}, "views", "views is 3 records behind", "starting (views)", 0},
		{
			"stopped", []api.ViewLag{{Name: "views", Position: 113, Lag: 341, Stopped: why}, {Name: "index", Lag: 1}}, server.StoppedPhase + "views",
			"views stopped at 113, " + why + ", index is 1 record behind", "running, but stopped: views", 1,
		},
		{
			"rebuilt", []api.ViewLag{{Name: "views"}, {Name: "index", Lag: 9, Rebuilding: true}}, server.PhaseReady,
			"index was damaged and is being rebuilt, 9 records behind", "running", 0,
		},
	} {
		s := api.Status{Views: c.views, Phase: c.phase, Ready: c.phase == server.PhaseReady}
		if got := viewsLine(s.Views); got != c.line {
			t.Errorf("%s: got %q, want %q", c.name, got, c.line)
		}
		if got := phaseWord(s); got != c.word {
			t.Errorf("%s: got %q, want %q", c.name, got, c.word)
		}
		err := stoppedError(s)
		if got := terminal.ExitCode(err); got != c.exit {
			t.Errorf("%s: ends with %d, want %d", c.name, got, c.exit)
		}
		if err != nil && !strings.Contains(err.Error(), why) {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}
