package doctor

import (
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/health"
)

func TestPauseLine(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	pause := health.Pause{Provider: "claude-cli", Class: events.FailLimit, Until: now.Add(time.Hour), Probe: 2}
	past, tried := pause, pause
	past.Until, tried.Trial.Turn = now.Add(-time.Minute), events.ID{1}
	for _, c := range []struct {
		pause health.Pause
		want  string
	}{
		{pause, "claude-cli (limit) until 2026-03-01 13:00, probe 2"},
		{past, "claude-cli (limit) until 2026-03-01 11:59: that is over, and turns try it, one at a time"},
		{tried, "claude-cli (limit) until 2026-03-01 13:00, being tried now, probe 2"},
	} {
		if got := pauseLine(c.pause, now); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestCountLine(t *testing.T) {
	t.Parallel()
	count := health.Count{Turns: 2, Respawns: map[string]int64{"crash": 2, "unparseable": 1}}
	if got, want := countLine(count), "2 turns, 0 kept, 2 respawns (crash), 1 respawn (unparseable)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
