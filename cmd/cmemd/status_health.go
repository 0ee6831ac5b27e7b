package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/projections"
)

// showHealth shows how the observer did in the last hour, day and week, each model by itself where there are several.
func showHealth(a *app, s api.Status, now time.Time) {
	windows := []struct {
		name string
		projections.HealthWindow
	}{{"1 h", s.Windows.Hour}, {"24 h", s.Windows.Day}, {"7 d", s.Windows.Week}}
	head := "turns"
	for _, w := range windows {
		a.field(head, fmt.Sprintf("%-5s %s", w.name, countLine(w.Total)))
		head = ""
		if len(w.Models) > 1 {
			for _, m := range w.Models {
				a.field("", fmt.Sprintf("      %s: %s", strings.TrimSpace(m.Provider+" "+m.Model), countLine(m.HealthCount)))
			}
		}
	}
	if at := s.Health.LastKeptAt; !at.IsZero() {
		a.field("last kept", fmt.Sprintf("%s, %s ago", at.Local().Format(time.DateTime), now.Sub(at).Round(time.Second)))
	}
	if r := s.Health.LastRespawn; r != nil {
		who := strings.TrimSpace(r.Provider + " " + r.Model)
		a.field("last respawn", strings.TrimSpace(a.shownSession(r.Session)+" "+who)+", "+respawnLine(*r))
	}
	for _, p := range s.Pauses {
		a.field("paused", pauseLine(p, now))
	}
	for _, q := range s.Held {
		a.field("quarantined", fmt.Sprintf("%s until %s: %s", q.Session, moment(q.Until), q.Cause))
	}
}

// countLine is how turns did, in a line; what there is none of is left out.
func countLine(c projections.HealthCount) string {
	line := fmt.Sprintf("%s, %d kept", plural(c.Turns, "turn"), c.Kept)
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
		line += fmt.Sprintf(", %s (%s)", plural(c.Respawns[cause], "respawn"), cause)
	}
	if c.Holds > 0 {
		line += ", " + plural(c.Holds, "hold")
	}
	if c.Quarantines > 0 {
		line += ", " + plural(c.Quarantines, "quarantine")
	}
	if tokens := c.Usage.Input + c.Usage.Output; tokens > 0 {
		line += ", " + plural(tokens, "token")
	}
	return line
}

// respawnLine is a respawn with what was counted and the limits that were in force.
func respawnLine(r projections.Respawn) string {
	line := fmt.Sprintf("%s: %s, generation %d to %d, ", moment(r.At), r.Cause, r.From, r.To)
	if r.Counted.Unparseable > 0 {
		return line + fmt.Sprintf("%d unparseable outputs in %s (a respawn from %d on, at most every %s)",
			r.Counted.Unparseable, shortDuration(r.Limits.Window), r.Limits.Unparseable, shortDuration(r.Limits.Every))
	}
	return line + fmt.Sprintf("%d in %s (at most %d), %d in a row (at most %d)",
		r.Counted.InWindow, shortDuration(r.Limits.Window), r.Limits.MaxRestarts, r.Counted.Consecutive, r.Limits.MaxConsecutive)
}

// pauseLine tells a pause from what is left of one: past its time turns try it, one by one.
func pauseLine(p projections.Pause, now time.Time) string {
	who := fmt.Sprintf("%s (%s)", p.Provider, p.Class)
	if p.Trial.Turn != (events.ID{}) {
		return fmt.Sprintf("%s until %s, being tried now, probe %d", who, moment(p.Until), p.Probe)
	}
	if !p.Until.After(now) {
		return fmt.Sprintf("%s until %s: that is over, and turns try it, one at a time", who, moment(p.Until))
	}
	return fmt.Sprintf("%s until %s, probe %d", who, moment(p.Until), p.Probe)
}

// showFindings shows what is not well and what mends it, else what the next session's person will be told.
func showFindings(a *app, s api.Status) {
	for _, f := range s.Findings {
		name := "notice"
		if f.Degraded {
			name = "degraded"
		}
		a.field(name, a.shownNotice(f.Says))
		a.field("  mend", a.shownNotice(f.Do))
	}
	if len(s.Findings) == 0 {
		a.field("notice", a.shownNotice(s.Notice))
	}
}
