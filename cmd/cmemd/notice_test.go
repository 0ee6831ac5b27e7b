package main

import (
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections"
)

func TestComplaints(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		name   string
		health projections.Health
		want   string // empty: none
	}{
		{"all is well", projections.Health{Total: projections.HealthCount{Kept: 100, Dropped: map[string]int64{"prose/no_xml": 20}}}, ""},
		{"an observer that says that there is nothing to record does its job", projections.Health{Total: projections.HealthCount{
			Skipped: map[string]int64{events.ReasonSkipSummary: 500},
		}}, ""},
		{"blank outputs say nothing either way", projections.Health{Total: projections.HealthCount{
			Kept: 1, Dropped: map[string]int64{"idle/missing_summary": 500},
		}}, ""},
		{"too few to mean anything", projections.Health{Total: projections.HealthCount{Dropped: map[string]int64{"prose/no_xml": 19}}}, ""},
		{"prose instead of an answer", projections.Health{Total: projections.HealthCount{
			Kept: 3, Dropped: map[string]int64{"prose/no_xml": 10, "xml/malformed": 10},
		}}, "only 3 of the observer's last 23 outputs"},
		{"capture only", projections.Health{Degraded: "3 sessions were quarantined"}, "it only captures for now"},
		{"a pause", projections.Health{Pauses: []projections.Pause{{Provider: "extractive", Class: "limit", Until: now.Add(time.Hour)}}}, "extractive is paused (limit) until"},
		{"a quarantine", projections.Health{Quarantines: make([]projections.Quarantine, 2)}, "the observer of 2 sessions is stopped"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(complaints(c.health, now), "; ")
			if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
