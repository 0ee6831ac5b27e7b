package server

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/testkit/capturetest"
)

func TestStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *testConfig) { c.Notice = func(context.Context) string { return "a line" } })
	w.work(t, "s", "make the cart faster", "/src/shop/cart.go")
	w.settled(t)
	if _, err := w.client.Hook(t.Context(), "claude-code", []byte("{"), newID(), time.Time{}); err == nil {
		t.Fatal("half a payload was taken")
	}
	capturetest.WriteFile(t, w.home+"/run/unanswered.json", []byte(`{"count":4,"last_notice":"","lost":2,"lost_reason":"disk"}`))
	st, err := api.StatusRoute.Call(t.Context(), w.client, api.NoQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if st.Version != "test" || st.PID != 7 || st.Home != w.home || !st.Ready || st.Phase != PhaseReady || st.Settings["slots"] != "2" || st.Notice != "[cmemd-notice: a line]" {
		t.Errorf("the daemon: got %+v", st)
	}
	b := st.Inputs
	if b.Captured == 0 || b.Captured != b.Observed+b.Skipped+b.Dropped+b.Pending+b.Forgotten {
		t.Errorf("inputs: got %+v", b)
	}
	if int(st.Position) != len(w.records(t)) || len(st.Views) != 2 || st.Views[0].Lag != 0 || st.Views[1].Name != "index" {
		t.Errorf("positions: got %d, %+v", st.Position, st.Views)
	}
	if st.Actors.Slots != 2 || st.Health.Total.Kept == 0 || st.Health.Hours != nil {
		t.Errorf("turns: got %+v, %+v", st.Actors, st.Health)
	}
	if day := st.Windows.Day; day.Total.Turns != st.Health.Total.Turns || st.Windows.Hour.Total.Kept == 0 || len(st.Windows.Week.Models) != 1 || st.Findings == nil || len(st.Findings) != 0 {
		t.Errorf("health: got %+v, %+v", st.Windows, st.Findings)
	}
	if st.Spool != (api.SpoolStatus{Bad: 1, Unanswered: 4, Lost: 2, LostReason: "disk"}) {
		t.Errorf("spool: got %+v", st.Spool)
	}
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.server.SetPhase("catching up with the log")
	got, err := api.ReadyRoute.Call(t.Context(), w.client, api.ReadyQuery{Always: true})
	if err != nil || got.Ready || got.Phase != "catching up with the log" {
		t.Errorf("got %+v, %v, want the phase", got, err)
	}
	p := problem(t, call(t.Context(), w.client, "GET", "/readyz", nil, nil, nil))
	if p.Status != 503 || p.Type != api.ProblemStarting || !strings.Contains(p.Detail, "catching up") {
		t.Errorf("got %+v, want 503 with the phase", p)
	}
	if err := w.client.Alive(t.Context()); err != nil {
		t.Errorf("alive: %v", err)
	}
	w.post(t, toolUse("s", "t", "ls", "")) // hooks are served before all is ready
	w.server.SetPhase(PhaseReady)
	if got, err = api.ReadyRoute.Call(t.Context(), w.client, api.ReadyQuery{Always: true}); err != nil || !got.Ready {
		t.Errorf("got %+v, %v, want ready", got, err)
	}
}

func TestStop(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 2)
	w := newWorld(t, func(c *testConfig) { c.Shutdown = func(cause string) { asked <- cause } })
	if err := w.client.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if cause := <-asked; cause == "" {
		t.Error("no cause was given")
	}
	err := call(t.Context(), w.client, "POST", "/v1/stop", map[string][]string{"cause": {"a newer\x1b[31m\nversion"}}, nil, nil)
	if cause := <-asked; err != nil || cause != "a newer[31mversion" {
		t.Errorf("got %q, %v, want the cause without control characters", cause, err)
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.post(t, toolUse("s", "again", "ls", ""), toolUse("s", "again", "ls", ""), hook("Unheard", "s", nil))
	w.work(t, "s", "make the cart faster", "/src/shop/cart.go")
	w.settled(t)
	if _, err := w.client.Hook(t.Context(), "claude-code", []byte("{"), events.ID{}, time.Time{}); err == nil {
		t.Fatal("half a payload was taken")
	}
	for name, want := range map[string]string{
		`cmemd_hook_requests_total{status="200"}`: "7",
		`cmemd_hook_requests_total{status="400"}`: "1",
		`cmemd_hook_captured_total`:               "5",
		`cmemd_hook_duplicates_total`:             "1",
		`cmemd_hook_ignored_total`:                "1",
		`cmemd_hook_aside_total`:                  "1",
		`cmemd_hook_seconds_count`:                "8",
		`cmemd_spool_bad`:                         "1",
		`cmemd_view_lag_records{view="index"}`:    "0",
		`cmemd_inputs{outcome="dropped"}`:         "0",
		`cmemd_degraded`:                          "0",
		`cmemd_turn_slots`:                        "2",
		`cmemd_observer_degraded`:                 "0",
	} {
		if got := metric(t, w, name); got != want {
			t.Errorf("%s: got %q, want %s", name, got, want)
		}
	}
	for _, name := range []string{"cmemd_log_position", "cmemd_turns_total", "cmemd_turns_kept_total", "go_goroutines"} {
		if got := metric(t, w, name); got == "" || got == "0" {
			t.Errorf("%s: got %q, want a number", name, got)
		}
	}
}
