package server

import (
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/projections/health"
)

// degrade writes down what a model has done that answers in prose, and a provider that is out of its quota.
func (w *world) degrade(t *testing.T) {
	t.Helper()
	stream := events.SessionIDOf("claude-code", "sick").Stream()
	say := func(to events.StreamID, turn events.ID, evs ...events.Event) {
		var drafts []events.Draft
		for _, e := range evs {
			drafts = append(drafts, events.Draft{ID: newID(), OccurredAt: time.Now(), Correlation: turn, Event: e})
		}
		if _, err := eventlog.AppendEnd(t.Context(), w.log, to, drafts...); err != nil {
			t.Fatal(err)
		}
	}
	say(stream, events.ID{}, events.SessionOpened{Agent: "claude-code", AgentSession: "sick"})
	for range health.DegradedUnusable {
		turn := newID()
		say(stream, turn, events.TurnStarted{Turn: turn, Provider: "anthropic", Model: "small\xff"})
		say(stream, turn, events.TurnReceived{Turn: turn, Usage: events.Usage{Input: 10, Output: 1}}, events.OutputDropped{Turn: turn, Class: "prose", Reason: "no_xml"})
	}
	last := newID()
	say(stream, last, events.TurnStarted{Turn: last, Provider: "anthropic", Model: "large"})
	say(stream, last, events.TurnFailed{Turn: last, Class: events.FailCrash}, events.SessionRespawned{
		From: 1, To: 2, Cause: "crash", Limits: events.Limits{MaxRestarts: 5, Window: time.Minute, MaxConsecutive: 5},
		Counted: events.Counted{InWindow: 2, Consecutive: 1},
	})
	say(events.ProviderStream("anthropic"), events.ID{}, events.ProviderPaused{Class: events.FailLimit, Probe: 1, Until: time.Now().Add(time.Hour)})
}

// TestStatusTellsWhatIsNotWell: in numbers, and in words that are known when they come back.
func TestStatusTellsWhatIsNotWell(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.degrade(t)
	w.settled(t)
	st, err := api.StatusRoute.Call(t.Context(), w.client, api.NoQuery{})
	if err != nil || len(st.Findings) != 2 {
		t.Fatalf("got %+v, %v, want two findings", st.Findings, err)
	}
	for i, want := range []health.FindingKind{health.FindUnusable, health.FindHeld} {
		f := st.Findings[i]
		if f.What != want || f.Degraded != (i == 0) || f.Provider != "anthropic" || f.Since.IsZero() || f.At.IsZero() {
			t.Errorf("got %+v, want %s", f, want)
		}
		for _, text := range []string{f.Says, f.Do} {
			if !strings.HasPrefix(text, relay.NoticeOpen) || relay.Notice(text) != text {
				t.Errorf("not marked: %q", text)
			}
		}
	}
	if r := st.Health.LastRespawn; r == nil || r.Cause != "crash" || r.Model != "large" || r.Counted.InWindow != 2 || r.Limits.MaxRestarts != 5 {
		t.Errorf("last respawn: got %+v", r)
	}
	for name, want := range map[string]string{
		`cmemd_observer_degraded`: "1",
		`cmemd_finding{degraded="true",model="small�",provider="anthropic",what="unusable"}`: "1",
		`cmemd_finding{degraded="false",model="",provider="anthropic",what="held"}`:          "1",
		`cmemd_model_unusable_streak{model="small�",provider="anthropic"}`:                   "20",
		`cmemd_model_blank_streak{model="small�",provider="anthropic"}`:                      "0",
		`cmemd_model_turns_total{model="small�",provider="anthropic"}`:                       "20",
		`cmemd_model_yield{model="small�",provider="anthropic",window="1h"}`:                 "0",
		`cmemd_model_tokens_total{direction="input",model="small�",provider="anthropic"}`:    "200",
		`cmemd_turns_dropped_total{reason="prose/no_xml"}`:                                   "20",
		`cmemd_holds_total`: "1",
		`cmemd_respawns_total{cause="crash",model="large",provider="anthropic"}`: "1",
	} {
		if got := metric(t, w, name); got != want {
			t.Errorf("%s: got %q, want %s", name, got, want)
		}
	}
}

// TestLosses: by day and class stands what came to nothing, and what failed; a day without a turn is none.
func TestLosses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.degrade(t)
	w.settled(t)
	got, err := api.LossesRoute.Call(t.Context(), w.client, api.LossesQuery{})
	if err != nil {
		t.Fatal(err)
	}
	turns, prose, crashes := int64(0), int64(0), int64(0)
	for _, d := range got.Days { // two where midnight came meanwhile
		turns, prose, crashes = turns+d.Turns, prose+d.Dropped["prose/no_xml"], crashes+d.Failures["crash"]
	}
	if want := int64(health.DegradedUnusable); prose != want || crashes != 1 || turns != want+1 || len(got.Days) > 2 {
		t.Errorf("%d turns, %d in prose, %d crashed of %+v", turns, prose, crashes, got)
	}
	none, err := api.LossesRoute.Call(t.Context(), w.client, api.LossesQuery{Until: time.Now().Add(-48 * time.Hour)})
	if err != nil || len(none.Days) != 0 {
		t.Errorf("before the first turn there are %+v, %v", none, err)
	}
}
