package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/projections/health"
)

// showHealth shows how the observer did in the last hour, day and week, each model by itself where there are several.
func showHealth(a *terminal.App, s api.Status, now time.Time) {
	windows := []struct {
		name string
		health.Window
	}{{"1 h", s.Windows.Hour}, {"24 h", s.Windows.Day}, {"7 d", s.Windows.Week}}
	head := "turns"
	for _, w := range windows {
		a.Field(head, fmt.Sprintf("%-5s %s", w.name, countLine(w.Total)))
		head = ""
		if len(w.Models) > 1 {
			for _, m := range w.Models {
				a.Field("", fmt.Sprintf("      %s: %s", strings.TrimSpace(m.Provider+" "+m.Model), countLine(m.Count)))
			}
		}
	}
	if at := s.Health.LastKeptAt; !at.IsZero() {
		a.Field("last kept", fmt.Sprintf("%s, %s ago", at.Local().Format(time.DateTime), now.Sub(at).Round(time.Second)))
	}
	if r := s.Health.LastRespawn; r != nil {
		who := strings.TrimSpace(r.Provider + " " + r.Model)
		a.Field("last respawn", strings.TrimSpace(a.ShownSession(r.Session)+" "+who)+", "+terminal.RespawnLine(*r))
	}
	for _, p := range s.Pauses {
		a.Field("paused", pauseLine(p, now))
	}
	for _, q := range s.Held {
		a.Field("quarantined", fmt.Sprintf("%s until %s: %s", q.Session, terminal.Moment(q.Until), q.Cause))
	}
}

// countLine is how turns did, in a line; what there is none of is left out.
func countLine(c health.Count) string {
	line := fmt.Sprintf("%s, %d kept", number.Plural(c.Turns, "turn"), c.Kept)
	if yield, ok := c.Yield(); ok {
		line += fmt.Sprintf(" (yield %.0f %%)", 100*yield)
	}
	for _, part := range []struct {
		of   map[string]int64
		what string
	}{{c.Skipped, "skipped"}, {c.Dropped, "dropped"}, {c.Failures, "failed"}} {
		for _, why := range slices.Sorted(maps.Keys(part.of)) {
			line += fmt.Sprintf(", %d %s %s", part.of[why], part.what, why)
		}
	}
	for _, cause := range slices.Sorted(maps.Keys(c.Respawns)) {
		line += fmt.Sprintf(", %s (%s)", number.Plural(c.Respawns[cause], "respawn"), cause)
	}
	if c.Holds > 0 {
		line += ", " + number.Plural(c.Holds, "hold")
	}
	if c.Quarantines > 0 {
		line += ", " + number.Plural(c.Quarantines, "quarantine")
	}
	if tokens := c.Usage.Input + c.Usage.Output; tokens > 0 {
		line += ", " + number.Plural(tokens, "token")
	}
	return line
}

// pauseLine tells a pause from what is left of one: past its time turns try it, one by one.
func pauseLine(p health.Pause, now time.Time) string {
	who := fmt.Sprintf("%s (%s)", p.Provider, p.Class)
	if p.Trial.Turn != (events.ID{}) {
		return fmt.Sprintf("%s until %s, being tried now, probe %d", who, terminal.Moment(p.Until), p.Probe)
	}
	if !p.Until.After(now) {
		return fmt.Sprintf("%s until %s: that is over, and turns try it, one at a time", who, terminal.Moment(p.Until))
	}
	return fmt.Sprintf("%s until %s, probe %d", who, terminal.Moment(p.Until), p.Probe)
}

// showFindings shows what is not well and what mends it, else what the next session's person will be shown.
func showFindings(a *terminal.App, s api.Status) {
	for _, f := range s.Findings {
		name := "notice"
		if f.Degraded {
			name = "degraded"
		}
		a.Field(name, a.ShownNotice(f.Says))
		a.Field("  mend", a.ShownNotice(f.Do))
	}
	if len(s.Findings) == 0 {
		a.Field("notice", a.ShownNotice(s.Notice))
	}
}
