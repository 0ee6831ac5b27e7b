package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections"
)

type fixedHealth struct {
	health projections.Health

	err error
}

func (f fixedHealth) Health(context.Context, time.Time, time.Time) (projections.Health, error) {
	return f.health, f.err
}

func TestNotice(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	turns := func(all, kept int64) projections.HealthCount {
		return projections.HealthCount{Turns: all, Kept: kept, Dropped: map[string]int64{"prose/no_xml": all - kept}}
	}
	for _, c := range []struct {
		name string
		h    fixedHealth
		stop []string
		want []string // parts; none: no notice
	}{
		{name: "well", h: fixedHealth{health: projections.Health{Total: turns(40, 38)}}},
		{name: "nothing yet", h: fixedHealth{}},
		{name: "few turns say little", h: fixedHealth{health: projections.Health{Total: turns(5, 0)}}},
		{name: "unknown", h: fixedHealth{health: projections.Health{Degraded: "x"}, err: errors.New("closed")}},
		{
			name: "views that stand still", h: fixedHealth{err: errors.New("closed")}, stop: []string{"views", "index"},
			want: []string{"cmemd: views and index stopped, what happens is still captured. ", "`cmemd status`"},
		},
		{name: "low yield", h: fixedHealth{health: projections.Health{Total: turns(40, 10)}}, want: []string{"only 10 of the observer's last 40 outputs"}},
		{name: "an observer that says that there is nothing to record does its job", h: fixedHealth{health: projections.Health{
			Total: projections.HealthCount{Turns: 500, Skipped: map[string]int64{events.ReasonSkipSummary: 500}},
		}}},
		{name: "blank outputs say nothing either way", h: fixedHealth{health: projections.Health{
			Total: projections.HealthCount{Turns: 501, Kept: 1, Dropped: map[string]int64{"idle/missing_summary": 500}},
		}}},
		{name: "degraded", h: fixedHealth{health: projections.Health{Degraded: "three sessions"}}, want: []string{"only captures"}},
		{
			name: "paused and quarantined", h: fixedHealth{health: projections.Health{
				Pauses: []projections.Pause{{Provider: "extractive", Class: "limit", Until: now.Add(time.Hour)}}, Quarantines: make([]projections.Quarantine, 2),
			}}, want: []string{"extractive is paused (limit) until ", "the observer of 2 sessions is stopped", "`cmemd status`"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := notices{views: c.h, now: func() time.Time { return now }, stopped: func() []string { return c.stop }}.line(t.Context())
			if (got == "") != (len(c.want) == 0) || strings.Contains(got, "\n") {
				t.Fatalf("got %q, want %q", got, c.want)
			}
			for _, part := range c.want {
				if !strings.Contains(got, part) {
					t.Errorf("got %q, want %q in it", got, part)
				}
			}
		})
	}
}
