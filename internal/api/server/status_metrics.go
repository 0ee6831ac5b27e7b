package server

import (
	"context"
	"strconv"
	"time"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/projections/health"
)

func (c *stateCollector) collectHealth(ctx context.Context, g gauges) {
	now := c.s.now()
	h, err := c.s.Views.Health(ctx, now.Add(-healthSpan), time.Time{})
	if err != nil {
		return
	}
	w, err := c.s.Views.HealthWindows(ctx, now)
	if err != nil {
		return
	}
	collectTotals(g, h)
	collectModels(g, h, w)
	st, _ := c.s.system.Status(ctx) // before it runs nobody is asked
	collectFindings(g, Findings(h, st.Status, now))
}

func collectTotals(g gauges, h api.Health) {
	all := h.AllTime()
	g.set("sessions_quarantined", "Sessions whose observer is stopped by supervision.", float64(len(h.Quarantines)))
	g.count("turns_total", "Turns that ended, failed ones included.", all.Turns)
	g.count("turns_kept_total", "Turns whose output was kept.", all.Kept)
	for reason, n := range all.Skipped {
		g.count("turns_skipped_total", "Turns with nothing worth recording, by reason.", n, "reason", reason)
	}
	for reason, n := range all.Dropped {
		g.count("turns_dropped_total", "Turns whose output did not parse, by class/reason.", n, "reason", reason)
	}
	for class, n := range all.Failures {
		g.count("turns_failed_total", "Turns that failed, by class.", n, "class", class)
	}
	for direction, n := range map[string]int64{"input": all.Usage.Input, "output": all.Usage.Output} {
		g.count("turn_tokens_total", "Tokens of the observer, as far as the provider says.", n, "direction", direction)
	}
	g.count("holds_total", "Times that a provider was left alone after it failed.", all.Holds)
	g.count("quarantines_total", "Times that a session's observer was stopped.", all.Quarantines)
}

func collectModels(g gauges, h api.Health, w api.HealthWindows) {
	for _, s := range h.Streaks {
		asked := []string{"provider", s.Provider, "model", s.Model}
		for cause, n := range s.All.Respawns {
			g.count("respawns_total", "Fresh observers that supervision gave sessions, by cause and by who was asked.",
				n, append([]string{"cause", cause}, asked...)...)
		}
		if s.All.Turns == 0 {
			continue
		}
		g.count("model_turns_total", "Turns that ended, by who was asked.", s.All.Turns, asked...)
		g.count("model_turns_kept_total", "Turns whose output was kept, by who was asked.", s.All.Kept, asked...)
		for direction, n := range map[string]int64{"input": s.All.Usage.Input, "output": s.All.Usage.Output} {
			g.count("model_tokens_total", "Tokens, by who was asked.", n, append([]string{"direction", direction}, asked...)...)
		}
		g.set("model_unusable_streak", "Outputs since the last kept one that did not parse, blank ones apart.", float64(s.Unusable), asked...)
		g.set("model_blank_streak", "Blank outputs since the last kept one to an edit, a commit or a failed test.", float64(s.Blank), asked...)
		if !s.KeptAt.IsZero() {
			g.set("model_last_kept_timestamp_seconds", "When an output was last kept, by who was asked.",
				float64(s.KeptAt.UnixMilli())/1000, asked...)
		}
	}
	for name, window := range map[string]health.Window{"1h": w.Hour, "24h": w.Day, "7d": w.Week} {
		for _, m := range window.Models {
			if yield, ok := m.Yield(); ok {
				g.set("model_yield", "Kept turns over turns that answered something, by who was asked, over a window.",
					yield, "provider", m.Provider, "model", m.Model, "window", name)
			}
		}
	}
}

func collectFindings(g gauges, found []api.Finding) {
	degraded := false
	for _, f := range found {
		degraded = degraded || f.Degraded
		g.set("finding", "1 for each thing that is not well.",
			1, "provider", f.Provider, "model", f.Model, "what", string(f.What), "degraded", strconv.FormatBool(f.Degraded))
	}
	g.set("observer_degraded", "1 while the numbers say that the observer does not do its job.", zeroOrOne(degraded))
}
