package projections

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/files"
	"github.com/cmemd/cmemd/projections/health"
	"github.com/cmemd/cmemd/projections/outcomes"
	"github.com/cmemd/cmemd/projections/rows"
	"github.com/cmemd/cmemd/projections/sessions"
	"github.com/cmemd/cmemd/projections/turn"
	"github.com/cmemd/cmemd/testkit/follow"
)

func TestSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.open(0), w.open(1)
	w.say(a.Stream(), events.ID{}, events.PromptSubmitted{Number: 1, Private: true}, events.PromptSubmitted{Number: 2, Text: " fix\n the leak "})
	at := w.tool(a, "")
	w.say(b.Stream(), events.ID{}, events.SessionClosed{Cause: "exit"})
	w.say(a.Stream(), events.ID{}, events.SessionRespawned{From: 1, To: 2}, events.SessionQuarantined{Cause: "intensity", Trip: 1},
		events.SessionQuarantined{Cause: "probe", Trip: 2})
	v := caughtUp(t, w)

	got, err := v.Session(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	if got.Title != "fix the leak" || got.Prompts != 2 || got.ToolUses != 1 || got.Generation != 2 || got.Pending != 1 ||
		got.Inputs.Captured != 1 || !got.Open() || got.Agent != "claude-code" || got.First != 1 || !got.OpenedAt.Equal(epoch.Add(7*time.Second)) {
		t.Fatalf("session: got %+v", got)
	}
	if q := got.Quarantined; q == nil || q.Trip != 2 || q.Cause != "probe" || !q.Since.Before(w.now) {
		t.Fatalf("quarantine: got %+v", q)
	}
	if _, err := v.Session(t.Context(), sessionOf(9)); !errors.Is(err, engine.ErrNotFound) {
		t.Fatalf("unknown session: got %v", err)
	}
	checkSessions(t, v, sessions.Filter{}, a, b)
	checkSessions(t, v, sessions.Filter{OpenOnly: true}, a)
	checkSessions(t, v, sessions.Filter{Agent: "codex"})
	checkSessions(t, v, sessions.Filter{Limit: 1}, a)
	checkSessions(t, v, sessions.Filter{Since: w.now.Add(time.Hour)})

	// b goes on, which brings it to the front and opens it again.
	w.tool(b, "")
	w.say(a.Stream(), events.ID{}, events.SessionReleased{By: "probe"})
	w.keep(w.start(a, events.TurnObservation, at), "x")
	w.say(a.Stream(), events.ID{}, events.SessionClosed{Cause: "exit"})
	follow.MustCatchUp(t, v)
	checkSessions(t, v, sessions.Filter{}, b, a)
	checkSessions(t, v, sessions.Filter{OpenOnly: true}, b)
	if got, _ := v.Session(t.Context(), a); got.Quarantined != nil || got.CloseCause != "exit" || got.Turns != 1 || got.Observations != 1 {
		t.Fatalf("session after its end: got %+v", got)
	}
}

func checkSessions(t *testing.T, v *Views, f sessions.Filter, want ...events.SessionID) {
	t.Helper()
	list, err := v.Sessions(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	var got []events.SessionID
	for _, s := range list {
		got = append(got, s.ID)
	}
	if !cmp.Equal(got, want) {
		t.Fatalf("sessions %+v: got %v, want %v", f, got, want)
	}
}

func TestOwing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	idle, pending, open, asked := w.open(0), w.open(1), w.open(2), w.open(3)
	w.tool(pending, "")
	in := w.tool(asked, "")
	turn := w.start(asked, events.TurnObservation, in)
	w.keep(turn, "x")
	for _, s := range []events.SessionID{idle, pending, asked} {
		w.say(s.Stream(), events.ID{}, events.SessionClosed{Cause: "exit"})
	}
	v := caughtUp(t, w)
	checkOwing(t, v, pending, open)
	w.say(asked.Stream(), events.ID{}, events.ReobserveRequested{Turns: []events.ID{turn.id}, Inputs: []events.Position{in}})
	follow.MustCatchUp(t, v)
	checkOwing(t, v, pending, open, asked)
	if got, err := v.Outcome(t.Context(), in); err != nil || !got.Reobserve || got.Outcome != outcomes.Observed {
		t.Fatalf("input to be observed again: got %+v, %v", got, err)
	}
	w.drop(w.start(asked, events.TurnObservation, in))
	follow.MustCatchUp(t, v)
	checkOwing(t, v, pending, open)
}

func checkOwing(t *testing.T, v *Views, want ...events.SessionID) {
	t.Helper()
	got, err := v.Owing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	have := map[events.SessionID]bool{}
	for _, s := range got {
		have[s] = true
	}
	if len(got) != len(want) {
		t.Fatalf("owing: got %v, want %v", got, want)
	}
	for _, s := range want {
		if !have[s] {
			t.Fatalf("owing: got %v, want %v", got, want)
		}
	}
}

func TestOutcomeReasons(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	var in []events.Position
	for range 5 {
		in = append(in, w.tool(s, ""))
	}
	since := w.now.Add(time.Second)
	late := w.tool(s, "")
	dropped := w.start(s, events.TurnObservation, in[0], in[1])
	drop := w.drop(dropped)
	w.skip(w.start(s, events.TurnObservation, in[2]))
	w.say(s.Stream(), events.ID{}, events.InputsDropped{Inputs: in[3:4], Reason: events.DropExpired})
	v := caughtUp(t, w)

	balance, err := v.Balance(t.Context())
	want := outcomes.Balance{Balance: session.Balance{Captured: 6, Skipped: 1, Dropped: 3, Pending: 2}, Reasons: []outcomes.ReasonCount{
		{Outcome: outcomes.Dropped, Class: "prose", Reason: "no_xml", Count: 2}, {Outcome: outcomes.Dropped, Reason: "expired", Count: 1}, {Outcome: outcomes.Skipped, Reason: "skip_summary", Count: 1},
	}}
	if diff := cmp.Diff(want, balance); diff != "" || err != nil {
		t.Fatalf("balance %v (-want +got):\n%s", err, diff)
	}
	for _, c := range []struct {
		name string
		f    outcomes.Filter
		want []events.Position
	}{
		{"reason", outcomes.Filter{Reason: "no_xml"}, []events.Position{in[1], in[0]}},
		{"class", outcomes.Filter{Class: "prose", Limit: 1}, []events.Position{in[1]}},
		{"dropped", outcomes.Filter{Outcome: outcomes.Dropped}, []events.Position{in[3], in[1], in[0]}},
		{"pending", outcomes.Filter{Outcome: outcomes.Pending}, []events.Position{late, in[4]}},
		{"since", outcomes.Filter{Since: since}, []events.Position{late}},
		{"since, in a session", outcomes.Filter{Since: since, Session: s}, []events.Position{late}},
		{"until", outcomes.Filter{Until: since}, []events.Position{in[4], in[3], in[2], in[1], in[0]}},
		{"since and until", outcomes.Filter{Since: since, Until: since}, nil},
		{"class and reason", outcomes.Filter{Class: "prose", Reason: "expired"}, nil},
		{"expired", outcomes.Filter{Reason: "expired"}, []events.Position{in[3]}},
		{"outcome and reason", outcomes.Filter{Outcome: outcomes.Skipped, Reason: "no_xml"}, nil},
		{"kind", outcomes.Filter{Kind: events.KindAgentStopped}, nil},
		{"among none", outcomes.Filter{Among: map[events.SessionID]bool{}}, nil},
		{"among others", outcomes.Filter{Among: map[events.SessionID]bool{s: true}, Outcome: outcomes.Skipped}, []events.Position{in[2]}},
		{"turn", outcomes.Filter{Turn: dropped.id}, []events.Position{in[1], in[0]}},
		{"turn of another session", outcomes.Filter{Turn: dropped.id, Session: sessionOf(7)}, nil},
		{"turn, second page", outcomes.Filter{Turn: dropped.id, Before: in[1]}, []events.Position{in[0]}},
		{"no such turn", outcomes.Filter{Turn: events.ID{9}}, nil},
		{"before", outcomes.Filter{Before: in[2], Limit: 1}, []events.Position{in[1]}},
		{"dropped, second page", outcomes.Filter{Outcome: outcomes.Dropped, Before: in[3]}, []events.Position{in[1], in[0]}},
		{"in a session, second page", outcomes.Filter{Session: s, Before: in[4], Limit: 2}, []events.Position{in[3], in[2]}},
		{"before the first", outcomes.Filter{Before: in[0]}, nil},
		{"no such outcome", outcomes.Filter{Outcome: "lost"}, nil},
		{"no such session", outcomes.Filter{Session: sessionOf(7)}, nil},
	} {
		list, err := v.Outcomes(t.Context(), c.f)
		var got []events.Position
		for _, i := range list {
			got = append(got, i.Position)
		}
		if err != nil || !cmp.Equal(got, c.want) {
			t.Errorf("%s: got %v, %v, want %v", c.name, got, err, c.want)
		}
	}
	got, err := v.Outcome(t.Context(), in[0])
	if err != nil || got.Turn != dropped.id || got.Class != "prose" || got.Session != s || got.Kind != events.KindToolUsed {
		t.Fatalf("outcome: got %+v, %v", got, err)
	}
	several, err := v.OutcomesAt(t.Context(), []events.Position{in[2], 1, in[0], in[1]})
	if err != nil || len(several) != 3 || several[0].Reason != "skip_summary" || several[1] != got || several[2].Position != in[1] || several[2].Class != "prose" {
		t.Fatalf("outcomes of several: got %+v, %v", several, err)
	}
	if _, err := v.Outcome(t.Context(), 1); !errors.Is(err, engine.ErrNotFound) {
		t.Fatalf("no input: got %v", err)
	}

	// The words of the dropped output are forgotten, and the reason with them; what was dropped stays dropped.
	w.forget(true, []events.Position{drop[1].Position})
	follow.MustCatchUp(t, v)
	balance, err = v.Balance(t.Context())
	if err != nil || balance.Dropped != 3 || balance.Reasons[0] != (outcomes.ReasonCount{Outcome: outcomes.Dropped, Class: "", Reason: "", Count: 2}) {
		t.Fatalf("balance without the reason: got %+v, %v", balance, err)
	}
}

func TestTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	in := w.tool(s, "")
	failed, kept := w.start(s, events.TurnObservation, in), w.start(s, events.TurnObservation, in)
	running := w.start(s, events.TurnObservation, in)
	w.fail(failed)
	records := w.keep(kept, "x", "y")
	v := caughtUp(t, w)
	if got, err := v.Turn(t.Context(), failed.id); err != nil || got.Result != turn.Failed || got.Failure != events.FailLimit || got.Status != 429 {
		t.Fatalf("failed turn: got %+v, %v", got, err)
	}
	if got, err := v.Turn(t.Context(), running.id); err != nil || got.Result != turn.Running || got.Ended != 0 {
		t.Fatalf("running turn: got %+v, %v", got, err)
	}
	got, err := v.Turn(t.Context(), kept.id)
	if err != nil || got.Result != turn.Kept || got.LatencyMS != 1200 || got.Usage.Input != 100 || got.Ended != records[0].Position ||
		!cmp.Equal(got.Rows, w.rows) || !cmp.Equal(got.Settles, []events.Position{in}) || got.Provider != "anthropic" {
		t.Fatalf("kept turn: got %+v, %v", got, err)
	}
	if _, err := v.Turn(t.Context(), events.ID{1}); !errors.Is(err, engine.ErrNotFound) {
		t.Fatalf("unknown turn: got %v", err)
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	in := w.tool(s, "")
	w.keep(w.start(s, events.TurnObservation, in), "x", "y")
	keptAt := w.now
	dropped := w.drop(w.start(s, events.TurnObservation, in))
	w.now = w.now.Add(2 * time.Hour)
	w.skip(w.start(s, events.TurnObservation, in))
	failed := w.start(s, events.TurnObservation, in)
	w.fail(failed)
	idle := w.start(s, events.TurnObservation, in)
	w.say(s.Stream(), idle.id, received(idle), events.OutputSkipped{Turn: idle.id, Reason: "empty"})
	w.say(events.ProviderStream("anthropic"), events.ID{}, events.ProviderPaused{Class: events.FailLimit, Probe: 1, Turn: failed.id}, events.ProviderPaused{Class: events.FailLimit, Probe: 2})
	w.say(s.Stream(), events.ID{}, events.SessionQuarantined{Cause: "intensity", Trip: 1})
	w.say(events.Daemon, events.ID{}, events.DaemonDegraded{Why: "3 quarantined"})
	v := caughtUp(t, w)

	h, err := v.Health(t.Context(), time.Time{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	total := h.Total
	if total.Turns != 5 || total.Kept != 1 || total.Idle != 1 || total.Usage.Input != 400 || total.Latencies[11] != 4 ||
		!cmp.Equal(total.Dropped, map[string]int64{"prose/no_xml": 1}) || !cmp.Equal(total.Failures, map[string]int64{"limit": 1}) ||
		!cmp.Equal(total.Skipped, map[string]int64{"skip_summary": 1, "empty": 1}) {
		t.Fatalf("total: got %+v", total)
	}
	if y, ok := total.Yield(); !ok || y < 0.33 || y > 0.34 {
		t.Fatalf("yield: got %v, want a third", y)
	}
	if len(h.Hours) != 2 || len(h.Models) != 1 || h.Models[0].Provider != "anthropic" || h.Models[0].Turns != 5 {
		t.Fatalf("got %d hours, models %+v", len(h.Hours), h.Models)
	}
	if h.LastKeptAt.After(keptAt) || h.LastKept == 0 || len(h.Quarantines) != 1 || h.Degraded == "" {
		t.Fatalf("now: got %+v", h)
	}
	if len(h.Pauses) != 1 || h.Pauses[0].Probe != 2 || !h.Pauses[0].Since.Before(w.now) {
		t.Fatalf("pauses: got %+v", h.Pauses)
	}
	if part, err := v.Health(t.Context(), h.Hours[1].Hour, time.Time{}); err != nil || part.Total.Turns != 3 {
		t.Fatalf("since the second hour: got %+v, %v", part.Total, err)
	}
	if part, err := v.Health(t.Context(), time.Time{}, h.Hours[0].Hour); err != nil || part.Total.Turns != 2 {
		t.Fatalf("until the first hour: got %+v, %v", part.Total, err)
	}

	w.forget(true, []events.Position{dropped[0].Position, dropped[1].Position})
	w.say(events.ProviderStream("anthropic"), events.ID{}, events.ProviderResumed{By: "probe"})
	w.say(s.Stream(), events.ID{}, events.SessionReleased{By: "person"})
	w.say(events.Daemon, events.ID{}, events.DaemonDegraded{Cleared: true})
	follow.MustCatchUp(t, v)
	h, err = v.Health(t.Context(), time.Time{}, time.Time{})
	if err != nil || h.Total.Usage.Input != 400 || h.Total.Turns != 5 || h.Total.Dropped[""] != 1 {
		t.Fatalf("after forgetting: got %+v, %v", h.Total, err)
	}
	if len(h.Pauses)+len(h.Quarantines) != 0 || h.Degraded != "" {
		t.Fatalf("after the end of it: got %+v", h)
	}
	if _, ok := (health.Count{}).Yield(); ok {
		t.Fatal("nothing has a yield")
	}
}

func TestInjections(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, other := w.open(0), w.open(1)
	say := func(s events.SessionID, hook string) events.Position {
		return w.say(s.Stream(), events.ID{}, events.ContextInjected{Hook: hook, IDs: []events.ID{{1}}, Characters: 5, Position: 3})[0].Position
	}
	say(s, "startup")
	say(other, "startup")
	last := say(s, "compact")
	v := caughtUp(t, w)
	for _, c := range []struct {
		at    events.Position
		limit int
		want  []string
	}{{0, 9, []string{"compact", "startup"}}, {last, 9, []string{"startup"}}, {0, 1, []string{"compact"}}, {1, 9, nil}} {
		list, err := v.InjectionsBefore(t.Context(), s, c.at, c.limit)
		var got []string
		for _, i := range list {
			got = append(got, i.Hook)
		}
		if err != nil || !cmp.Equal(got, c.want) {
			t.Errorf("before %d: got %v, %v, want %v", c.at, got, err, c.want)
		}
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, other := w.open(0), w.open(1)
	edit := w.tool(s, `{"file_path":"/home/u/p0/pkg/a.go","old_string":"x","new_string":"y"}`)
	w.say(s.Stream(), events.ID{}, events.ToolUsed{Tool: "Write", Input: `{"file_path":"pkg/broken.go","content":"x"}`, Cwd: "/home/u/p0", Failed: true})
	w.say(s.Stream(), events.ID{}, events.ToolUsed{Tool: "Read", Input: `{"file_path":"/home/u/p0/pkg/secret.go"}`, Unobserved: "private"})
	w.tool(s, `{"pattern":"x","path":"/home/u/p0/pkg"}`)
	turn := w.start(s, events.TurnObservation, edit)
	w.say(s.Stream(), turn.id, events.ObservationParsed{Observation: w.id(), Turn: turn.id, Title: "x", FilesModified: []string{"pkg/a.go"}, FilesRead: []string{"pkg/a.go", "/home/u/p0/README.md", "/etc/hosts", "https://x/y"}})
	w.tool(other, `{"file_path":"/home/u/p1/pkg/a.go"}`)
	v := caughtUp(t, w)

	check := func(f files.Filter, want ...string) []files.File {
		t.Helper()
		files, err := v.Files(t.Context(), f)
		var got []string
		for _, file := range files {
			got = append(got, file.ProjectRoot+" "+file.Path)
		}
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("files %+v: got %q, %v, want %q", f, got, err, want)
		}
		return files
	}
	const p0, p1 = "/home/u/p0 ", "/home/u/p1 "
	listed := check(files.Filter{ProjectRoot: "/home/u/p0"}, p0+"/etc/hosts", p0+"README.md", p0+"pkg/a.go", p0+"pkg/broken.go")
	if a := listed[2].Touches; len(a) != 2 || a[0].ID == (events.ID{}) || !a[0].Modified || a[1].Tool != "Edit" || !a[1].Modified {
		t.Fatalf("touches of pkg/a.go: got %+v", a)
	}
	if broken := listed[3].Touches; len(broken) != 1 || broken[0].Modified || !broken[0].Failed {
		t.Fatalf("touches of pkg/broken.go: got %+v", broken)
	}
	check(files.Filter{ProjectRoot: "/home/u/p0", ModifiedOnly: true}, p0+"pkg/a.go")
	check(files.Filter{Limit: 1}, p1+"pkg/a.go")

	w.forget(true, []events.Position{edit})
	follow.MustCatchUp(t, v)
	listed = check(files.Filter{ProjectRoot: "/home/u/p0"}, p0+"/etc/hosts", p0+"README.md", p0+"pkg/a.go", p0+"pkg/broken.go")
	if a := listed[2].Touches; len(a) != 1 {
		t.Fatalf("touches after forgetting the edit: got %+v", a)
	}
}

func TestListAndInspect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	w.keep(w.start(s, events.TurnObservation, w.tool(s, "")), "x", "y")
	v := caughtUp(t, w)
	w.tool(s, "")
	infos, err := v.List(t.Context())
	if err != nil || len(infos) != len(allViews()) {
		t.Fatalf("list: got %v, %v", infos, err)
	}
	for _, i := range infos {
		if i.Lag != 1 || i.Checkpoint != v.Position() || i.Version == 0 {
			t.Fatalf("info: got %+v", i)
		}
		for _, key := range []string{"", "rows/", "facts/", "by_time/", "turns/", "inputs/", "touched/", "hours/", "balances/", "recent/", "keys/"} {
			in, err := v.Inspect(t.Context(), i.Name, key, 0)
			if err != nil {
				t.Fatalf("inspect %s %s: %v", i.Name, key, err)
			}
			if _, err := json.Marshal(in); err != nil {
				t.Fatalf("inspect %s %s: %v", i.Name, key, err)
			}
		}
	}
	one, err := v.Inspect(t.Context(), "observations", w.rows[1].String()[:36], 5)
	if err != nil || len(one.Entries) != 1 || one.Entries[0].Value.(rows.Row).Title != "y" || one.Rows != 2 {
		t.Fatalf("inspect one row: got %+v, %v", one, err)
	}
	if part, err := v.Inspect(t.Context(), "observations", "", 1); err != nil || len(part.Entries) != 1 || !part.More {
		t.Fatalf("inspect with a limit: got %+v, %v", part, err)
	}
	if _, err := v.Inspect(t.Context(), "nothing", "", 1); !errors.Is(err, engine.ErrUnknownView) {
		t.Fatalf("unknown view: got %v", err)
	}
}
