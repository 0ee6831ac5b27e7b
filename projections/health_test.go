package projections

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/health"
	"github.com/cmemd/cmemd/testkit/follow"
)

func mustHealth(t *testing.T, v *Views, since, until time.Time) health.Report {
	t.Helper()
	follow.MustCatchUp(t, v)
	h, err := v.Health(t.Context(), since, until)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestWindowsAreExact has one turn every five minutes for ten days: an hour is then 12 turns or 13, never 24.
func TestWindowsAreExact(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	in := w.tool(s, "")
	for w.now.Before(epoch.Add(10 * 24 * time.Hour)) {
		w.keep(w.start(s, events.TurnObservation, in))
		w.now = w.now.Truncate(5 * time.Minute).Add(5 * time.Minute)
	}
	v := caughtUp(t, w)
	for _, off := range []time.Duration{0, 2 * time.Minute, 31 * time.Minute, 59 * time.Minute} {
		now := w.now.Add(off)
		got, err := v.HealthWindows(t.Context(), now)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name        string
			window      health.Window
			least, most int64
		}{
			{"hour", got.Hour, 12 - int64(off/(5*time.Minute)) - 1, 13},
			{"day", got.Day, 24*12 - int64(off/(5*time.Minute)) - 1, 24*12 + 1},
			{"week", got.Week, 7*24*12 - int64(off/(5*time.Minute)) - 1, 7*24*12 + 12},
		} {
			if n := c.window.Total.Turns; n < c.least || n > c.most {
				t.Errorf("%s later: %s: got %d turns, want %d to %d", off, c.name, n, c.least, c.most)
			}
			if len(c.window.Models) != 1 || c.window.Models[0].Turns != c.window.Total.Turns {
				t.Errorf("%s: got models %+v", c.name, c.window.Models)
			}
		}
	}
	part := mustHealth(t, v, w.now.Add(-100*time.Minute), w.now.Add(-50*time.Minute))
	if n := part.Total.Turns; n < 10 || n > 11 {
		t.Errorf("between two instants: got %d turns, want 10 or 11", n)
	}
}

// TestHoursAreBounded goes on for longer than hours are kept. What was counted in all stays, and what is taken back of a
// turn whose hour is gone leaves none.
func TestHoursAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	in := w.tool(s, "")
	first := w.drop(w.start(s, events.TurnObservation, in))
	w.now = epoch.Add(health.Kept - time.Hour)
	w.keep(w.start(s, events.TurnObservation, in), "x")
	v := caughtUp(t, w)
	if h := mustHealth(t, v, time.Time{}, time.Time{}); len(h.Hours) != 2 || h.Total.Turns != 2 {
		t.Errorf("while all are kept: got %d hours, %+v", len(h.Hours), h.Total)
	}
	w.now = epoch.Add(health.Kept + 30*time.Minute)
	w.keep(w.start(s, events.TurnObservation, in), "x")
	for _, what := range []string{"an hour later", "what is gone is forgotten"} {
		h := mustHealth(t, v, time.Time{}, time.Time{})
		if len(h.Hours) != 2 || h.Total.Turns != 2 || h.Total.Kept != 2 || h.AllTime().Turns != 3 {
			t.Errorf("%s: got %d hours, %+v, in all %d turns, want two and three", what, len(h.Hours), h.Total, h.AllTime().Turns)
		}
		w.forget(true, []events.Position{first[0].Position, first[1].Position})
	}
	follow.MustCatchUp(t, v)
	if diff := cmp.Diff(dump(t, caughtUp(t, w)), dump(t, v)); diff != "" {
		t.Errorf("live differs (-once +live):\n%s", diff)
	}
}

// TestSlotsAreBounded: however long the log is, slots are kept for 25 hours alone.
func TestSlotsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	in := w.tool(s, "")
	for range 1000 {
		w.keep(w.start(s, events.TurnObservation, in))
		w.now = w.now.Add(7 * time.Minute)
	}
	v := caughtUp(t, w)
	all, err := v.Inspect(t.Context(), "health", "slots/", 10_000)
	n := len(all.Entries)
	if err != nil || n > 25*12 || n < 200 {
		t.Errorf("got %d slots, %v; want about %d", n, err, 25*60/7)
	}
}

// TestStreaks folds a life of one model, step by step.
func TestStreaks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	in := w.tool(s, "")
	stop := w.say(s.Stream(), events.ID{}, events.AgentStopped{Work: 1})[0].Position
	v := mustOpen(t, t.TempDir(), w.log, engine.Config{})
	turn := func() *worldTurn { return w.start(s, events.TurnObservation, in) }
	var prose, blank []events.Record
	for _, c := range []struct {
		name            string
		do              func()
		unusable, blank int64
	}{
		{"nothing yet", func() { turn() }, 0, 0},
		{"prose", func() { prose = w.drop(turn()) }, 1, 0},
		{"more of it", func() { w.drop(turn()) }, 2, 0},
		{"the agreed form neither counts nor ends anything", func() { w.skip(turn()) }, 2, 0},
		{"a failure neither", func() { w.fail(turn()) }, 2, 0},
		{"blank to nothing notable neither", func() { w.blank(turn()) }, 2, 0},
		{"a blank summary of stops without anything notable neither", func() { w.blank(w.start(s, events.TurnSummary, stop)) }, 2, 0},
		{"blank to something notable", func() { w.notable = 1; blank = w.blank(turn()) }, 2, 1},
		{"a blank summary of notable stops", func() { w.blank(w.start(s, events.TurnSummary, stop)) }, 2, 2},
		{"the agreed form to something notable", func() { w.skip(turn()) }, 2, 2},
		{"an erased blank", func() { w.forget(false, []events.Position{blank[1].Position}) }, 2, 1},
		{"an erased drop", func() { w.forget(true, []events.Position{prose[1].Position}) }, 1, 1},
		{"something kept ends it", func() { prose = w.drop(turn()); w.keep(turn(), "x") }, 0, 0},
		{"an erased drop of an earlier streak", func() { w.forget(false, []events.Position{prose[1].Position}) }, 0, 0},
		{"and it begins anew", func() { w.drop(turn()) }, 1, 0},
		{"another model's answers are its own", func() { w.model = "large"; w.keep(turn(), "y"); w.drop(turn()) }, 1, 0},
	} {
		c.do()
		h := mustHealth(t, v, time.Time{}, time.Time{})
		if len(h.Streaks) == 0 {
			if c.unusable+c.blank > 0 {
				t.Fatalf("%s: no streak", c.name)
			}
			continue
		}
		got := h.Streaks[len(h.Streaks)-1] // "small" sorts behind "large"
		if got.Unusable != c.unusable || got.Blank != c.blank {
			t.Errorf("%s: got %d unusable, %d blank; want %d, %d", c.name, got.Unusable, got.Blank, c.unusable, c.blank)
		}
	}
}

// TestFoundInTheLog: what a log holds becomes findings, and the next kept turn ends them.
func TestFoundInTheLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	in := w.tool(s, "")
	w.keep(w.start(s, events.TurnObservation, in), "x")
	keptAt := w.now
	for range health.DegradedUnusable - 1 {
		w.drop(w.start(s, events.TurnObservation, in))
	}
	for range 100 {
		w.skip(w.start(s, events.TurnObservation, in))
	}
	v := caughtUp(t, w)
	if got := mustHealth(t, v, w.now.Add(-24*time.Hour), w.now).Findings(w.now); len(got) != 0 {
		t.Fatalf("one answer too few: got %+v", got)
	}
	last := w.drop(w.start(s, events.TurnObservation, in))
	later := w.now.Add(3 * time.Hour)
	got := mustHealth(t, v, w.now.Add(-24*time.Hour), later).Findings(later)
	if len(got) != 1 || got[0].What != health.FindUnusable || got[0].Count != health.DegradedUnusable || got[0].Model != "small" ||
		got[0].Since.After(keptAt) || !got[0].At.Equal(last[0].RecordedAt) {
		t.Fatalf("got %+v, want %d since %s, as of %s", got, health.DegradedUnusable, keptAt, last[0].RecordedAt)
	}
	w.keep(w.start(s, events.TurnObservation, in), "y")
	if got := mustHealth(t, v, time.Time{}, w.now).Findings(w.now); len(got) != 0 {
		t.Fatalf("after a kept turn: got %+v", got)
	}
	lost := w.start(s, events.TurnObservation, in)
	w.say(s.Stream(), lost.id, events.TurnFailed{Turn: lost.id, Class: events.FailCrash}, events.SessionQuarantined{Cause: "intensity", Trip: 1, Until: w.now.Add(time.Hour)})
	got = mustHealth(t, v, time.Time{}, w.now).Findings(w.now)
	if len(got) != 1 || got[0].What != health.FindQuarantined || got[0].Provider != "anthropic" || got[0].Model != "small" {
		t.Fatalf("got %+v, want the quarantine of the model that crashed", got)
	}
	if h := mustHealth(t, v, time.Time{}, w.now); h.Total.Quarantines != 1 || h.Models[0].Quarantines != 1 {
		t.Fatalf("got %+v, want a counted quarantine", h.Total)
	}
}

// TestHoldsWhileTheyAreTried follows holds whose probes fail, are blank or dropped, and never come.
func TestHoldsWhileTheyAreTried(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, other := w.open(0), w.open(1)
	in := w.tool(s, "")
	v := mustOpen(t, t.TempDir(), w.log, engine.Config{})
	provider := events.ProviderStream("anthropic")
	paused := func(class events.FailureClass, left time.Duration) {
		w.say(provider, events.ID{}, events.ProviderPaused{Class: class, Until: w.now.Add(left), Probe: 1})
	}
	var turn *worldTurn
	begin := func() { turn = w.start(s, events.TurnObservation, in) }
	pass := func(d time.Duration) { w.now = w.now.Add(d) }
	for _, c := range []struct {
		name string
		do   func()
		want string // of Says and Do; empty: no finding
	}{
		{"a limit", func() { paused(events.FailLimit, time.Hour) }, "tried again at"},
		{"what was asked before may still be under way", begin, "tried again at"},
		{"and be answered", func() { w.drop(turn) }, "tried again at"},
		{"its time is up", func() { pass(time.Hour) }, "the next turn tries it"},
		{"a turn tries it", begin, "being tried now"},
		{"for long", func() { pass(2 * time.Minute) }, "being tried now"},
		{"it failed", func() { w.fail(turn) }, "the next turn tries it"},
		{"and is paused anew", func() { paused(events.FailLimit, time.Hour) }, "tried again at"},
		{"nothing is owed", func() { pass(3 * time.Hour) }, ""},
		{"until something is", begin, "being tried now"},
		{"an answer of prose says that it answers", func() { w.drop(turn) }, ""},
		{"the next turn too", begin, ""},
		{"a limit again", func() { w.fail(turn); paused(events.FailLimit, time.Minute) }, "tried again at"},
		{"let go", func() { w.say(provider, events.ID{}, events.ProviderResumed{By: "probe"}) }, ""},
		{"a quarantine", func() {
			begin()
			w.say(s.Stream(), turn.id, events.TurnFailed{Turn: turn.id, Class: events.FailCrash}, events.SessionQuarantined{Cause: "intensity", Trip: 1, Until: w.now.Add(time.Minute)})
		}, "tried again at"},
		{"its minute is over for long", func() { pass(time.Hour) }, ""},
		{"another session's turn is nothing to it", func() { w.start(other, events.TurnObservation, in) }, ""},
		{"its own is", begin, "being tried now"},
		{"that crashed", func() {
			w.say(s.Stream(), turn.id, events.TurnFailed{Turn: turn.id, Class: events.FailCrash}, events.SessionQuarantined{Cause: "intensity", Trip: 2, Until: w.now.Add(time.Minute)})
		}, "tried again at"},
		{"released", func() { w.say(s.Stream(), events.ID{}, events.SessionReleased{By: "probe"}) }, ""},
	} {
		c.do()
		got := mustHealth(t, v, w.now.Add(-24*time.Hour), w.now).Findings(w.now)
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0].Says+got[0].Do, c.want)) {
			t.Fatalf("%s: got %+v, want %q", c.name, got, c.want)
		}
	}
	if diff := cmp.Diff(dump(t, caughtUp(t, w)), dump(t, v)); diff != "" {
		t.Errorf("live differs (-once +live):\n%s", diff)
	}
}

// BenchmarkHealthRead is what a session's start reads: a day of two models that are asked every minute.
func BenchmarkHealthRead(b *testing.B) {
	w := newWorld(b)
	s := w.open(0)
	in := w.tool(s, "")
	for w.now.Before(epoch.Add(8 * 24 * time.Hour)) {
		for _, w.model = range []string{"small", "large"} {
			w.keep(w.start(s, events.TurnObservation, in))
			w.now = w.now.Add(4 * time.Minute)
		}
	}
	v := mustOpen(b, b.TempDir(), w.log, engine.Config{})
	follow.MustCatchUp(b, v)
	b.Run("Day", func(b *testing.B) {
		for b.Loop() {
			if _, err := v.Health(context.Background(), w.now.Add(-24*time.Hour), w.now); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Windows", func(b *testing.B) {
		for b.Loop() {
			if _, err := v.HealthWindows(context.Background(), w.now); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestRespawns counts fresh observers by cause and by who was asked, of all and of one session, with what the last one counted.
func TestRespawns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	in := w.tool(s, "")
	w.refresh(w.start(s, events.TurnObservation, in))
	w.model = "large"
	crashed := events.SessionRespawned{
		From: 1, To: 2, Cause: "crash", Limits: events.Limits{MaxRestarts: 5, Window: time.Minute, MaxConsecutive: 4},
		Counted: events.Counted{InWindow: 2, Consecutive: 1}, Delay: time.Second,
	}
	for range 2 {
		turn := w.start(s, events.TurnObservation, in)
		w.say(s.Stream(), turn.id, events.TurnFailed{Turn: turn.id, Class: events.FailCrash}, crashed)
	}
	v := caughtUp(t, w)
	h := mustHealth(t, v, time.Time{}, time.Time{})
	want := map[string]int64{"unparseable": 1, "crash": 2}
	for _, got := range []map[string]int64{h.Total.Respawns, h.AllTime().Respawns} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("counts (-want +got):\n%s", diff)
		}
	}
	if len(h.Models) != 2 || h.Models[0].Model != "large" || h.Models[0].Respawns["crash"] != 2 || h.Models[1].Respawns["unparseable"] != 1 {
		t.Errorf("models: got %+v", h.Models)
	}
	last := h.LastRespawn
	if last == nil || last.Provider != "anthropic" || last.Model != "large" {
		t.Fatalf("last: got %+v", last)
	}
	of, err := v.Session(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, of.Respawns); diff != "" {
		t.Errorf("of the session (-want +got):\n%s", diff)
	}
	last.Provider, last.Model = "", ""
	wantLast := &health.Respawn{
		Session: s, Position: last.Position, At: w.now, From: 1, To: 2, Cause: "crash", Limits: crashed.Limits, Counted: crashed.Counted,
		Delay: time.Second,
	}
	for _, got := range []*health.Respawn{last, of.LastRespawn} {
		if diff := cmp.Diff(wantLast, got); diff != "" {
			t.Errorf("last (-want +got):\n%s", diff)
		}
	}
}
