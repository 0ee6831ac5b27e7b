package server

import (
	"context"
	"strconv"
	"time"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/projections/health"
)

// healthMetrics are what /metrics says of the observer.
func healthMetrics() []stateMetric {
	model := []string{"provider", "model"}
	return []stateMetric{
		{"sessions_quarantined", "Sessions whose observer is stopped by supervision.", nil},
		{"turns_total", "Turns that ended, failed ones included.", nil},
		{"turns_kept_total", "Turns whose output was kept.", nil},
		{"turns_skipped_total", "Turns with nothing worth recording, by reason.", []string{"reason"}},
		{"turns_dropped_total", "Turns whose output did not parse, by class/reason.", []string{"reason"}},
		{"turns_failed_total", "Turns that failed, by class.", []string{"class"}},
		{"turn_tokens_total", "Tokens of the observer, as far as the provider says.", []string{"direction"}},
		{"holds_total", "Times that a provider was left alone after it failed.", nil},
		{"quarantines_total", "Times that a session's observer was stopped.", nil},
		{"respawns_total", "Fresh observers that supervision gave sessions, by cause and by who was asked.", append([]string{"cause"}, model...)},
		{"model_turns_total", "Turns that ended, by who was asked.", model},
		{"model_turns_kept_total", "Turns whose output was kept, by who was asked.", model},
		{"model_tokens_total", "Tokens, by who was asked.", append(model, "direction")},
		{"model_yield", "Kept turns over turns that answered something, by who was asked, over a window.", append(model, "window")},
		{"model_last_kept_timestamp_seconds", "When an output was last kept, by who was asked.", model},
		{"model_unusable_streak", "Outputs since the last kept one that did not parse, blank ones apart.", model},
		{"model_blank_streak", "Blank outputs since the last kept one to an edit, a commit or a failed test.", model},
		{"observer_degraded", "1 while the numbers say that the observer does not do its job.", nil},
		{"finding", "1 for each thing that is not well.", append(model, "what", "degraded")},
	}
}

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
	collectFindings(g, Findings(h, st, now))
}

func collectTotals(g gauges, h api.Health) {
	all := h.AllTime()
	g.set("sessions_quarantined", float64(len(h.Quarantines)))
	g.count("turns_total", all.Turns)
	g.count("turns_kept_total", all.Kept)
	for reason, n := range all.Skipped {
		g.count("turns_skipped_total", n, reason)
	}
	for reason, n := range all.Dropped {
		g.count("turns_dropped_total", n, reason)
	}
	for class, n := range all.Failures {
		g.count("turns_failed_total", n, class)
	}
	g.count("turn_tokens_total", all.Usage.Input, "input")
	g.count("turn_tokens_total", all.Usage.Output, "output")
	g.count("holds_total", all.Holds)
	g.count("quarantines_total", all.Quarantines)
}

func collectModels(g gauges, h api.Health, w api.HealthWindows) {
	for _, s := range h.Streaks {
		for cause, n := range s.All.Respawns {
			g.count("respawns_total", n, cause, s.Provider, s.Model)
		}
		if s.All.Turns == 0 {
			continue
		}
		g.count("model_turns_total", s.All.Turns, s.Provider, s.Model)
		g.count("model_turns_kept_total", s.All.Kept, s.Provider, s.Model)
		g.count("model_tokens_total", s.All.Usage.Input, s.Provider, s.Model, "input")
		g.count("model_tokens_total", s.All.Usage.Output, s.Provider, s.Model, "output")
		g.set("model_unusable_streak", float64(s.Unusable), s.Provider, s.Model)
		g.set("model_blank_streak", float64(s.Blank), s.Provider, s.Model)
		if !s.KeptAt.IsZero() {
			g.set("model_last_kept_timestamp_seconds", float64(s.KeptAt.UnixMilli())/1000, s.Provider, s.Model)
		}
	}
	for name, window := range map[string]health.Window{"1h": w.Hour, "24h": w.Day, "7d": w.Week} {
		for _, m := range window.Models {
			if yield, ok := m.Yield(); ok {
				g.set("model_yield", yield, m.Provider, m.Model, name)
			}
		}
	}
}

func collectFindings(g gauges, found []api.Finding) {
	degraded := false
	for _, f := range found {
		degraded = degraded || f.Degraded
		g.set("finding", 1, f.Provider, f.Model, string(f.What), strconv.FormatBool(f.Degraded))
	}
	g.set("observer_degraded", one(degraded))
}
