package projections

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/rows"
	turnpkg "github.com/cmemd/cmemd/projections/turn"
	"github.com/cmemd/cmemd/testkit/follow"
)

// caughtUp opens views over w and lets them see all of it.
func caughtUp(t *testing.T, w *world) *Views {
	t.Helper()
	v := mustOpen(t, t.TempDir(), w.log, engine.Config{})
	follow.MustCatchUp(t, v)
	return v
}

func titles(rows []rows.Row) []string {
	var out []string
	for _, r := range rows {
		out = append(out, string(r.Kind)+":"+r.Title+r.Text+r.Request)
	}
	return out
}

func mustRow(t *testing.T, v *Views, id events.ID) rows.Row {
	t.Helper()
	row, err := v.Row(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return row
}

func mustRecent(t *testing.T, v *Views, f rows.RecentFilter) []rows.Row {
	t.Helper()
	rows, err := v.Recent(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestRowsSayWhereTheyComeFrom(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	turn := w.start(s, events.TurnObservation, w.tool(s, ""))
	kept := w.keep(turn, "a leak")
	v := caughtUp(t, w)
	got := mustRow(t, v, w.rows[0])
	want := rows.Row{
		ID: w.rows[0], Kind: rows.Observation, Position: kept[1].Position, At: kept[1].OccurredAt, Session: s, Agent: "claude-code",
		AgentSession: "s0", Project: "p0", ProjectRoot: "/home/u/p0", Prompt: 1, Type: "bugfix", Title: "a leak",
		Narrative: "it was a leak", Facts: []string{"one"}, Concepts: []string{"how-it-works"},
		FilesRead: []string{"/home/u/p0/a.go"}, FilesModified: []string{"b.go"},
		Claims: []events.Claim{{Kind: "commit", Value: "abc1234", Verdict: events.Verified}},
		Turn:   turn.id, Turns: []events.ID{turn.id}, Count: 1, Writer: events.WriterObserver,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("row (-want +got):\n%s", diff)
	}
	if !got.Listed() {
		t.Fatal("it is not listed")
	}
	if _, err := v.Row(t.Context(), events.ID{9}); !errors.Is(err, engine.ErrNotFound) {
		t.Fatalf("unknown id: got %v, want engine.ErrNotFound", err)
	}
	list, err := v.Rows(t.Context(), events.ID{9}, w.rows[0])
	if err != nil || len(list) != 2 || list[0].Kind != "" || list[0].Listed() || list[1].ID != w.rows[0] {
		t.Fatalf("rows: got %v, %v", list, err)
	}
	for _, kind := range []rows.Kind{rows.Observation, rows.Summary, "", "none"} {
		named, err := v.RowsNamed(t.Context(), rows.Name{ID: events.ID{9}, Kind: kind}, rows.Name{ID: w.rows[0], Kind: kind})
		if diff := cmp.Diff(list, named); err != nil || diff != "" {
			t.Errorf("named as of kind %q: %v (-want +got):\n%s", kind, err, diff)
		}
	}
}

// TestRowsOfEntries reads no more of an entry than is asked for.
func TestRowsOfEntries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	prompt := w.say(s.Stream(), events.ID{}, events.PromptSubmitted{Number: 1, Text: "Mend it"})[0]
	turn := w.start(s, events.TurnObservation, w.tool(s, ""))
	w.keep(turn, "a leak", "a race", "a loop")
	v := caughtUp(t, w)
	first := mustRow(t, v, w.rows[0])
	entries := []rows.Entry{first.Entry(), {Row: first.ID}}
	for _, c := range []struct {
		name   string
		filter rows.EntryFilter
		want   []events.ID
	}{
		{"all", rows.EntryFilter{}, append([]events.ID{prompt.ID}, w.rows...)},
		{"the prompt", rows.EntryFilter{PromptOnly: true}, []events.ID{prompt.ID}},
		{"two", rows.EntryFilter{Limit: 2}, []events.ID{prompt.ID, w.rows[0]}},
		{"two that match", rows.EntryFilter{Limit: 2, Match: func(_ int, r *rows.Row) bool { return r.ID != w.rows[0] && r.Kind == rows.Observation }}, w.rows[1:3]},
		{"then", rows.EntryFilter{AsOf: first.Position, At: first.At, Match: func(_ int, r *rows.Row) bool { return r.Position <= first.Position }}, []events.ID{prompt.ID, w.rows[0]}},
	} {
		found, err := v.RowsOfEntries(t.Context(), c.filter, entries...)
		var got []events.ID
		for _, row := range found[0] {
			got = append(got, row.ID)
		}
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" || len(found) != 2 || len(found[1]) != 0 {
			t.Errorf("%s: %v, %d of what is one row (-want +got):\n%s", c.name, err, len(found[1]), diff)
		}
	}
}

func TestDuplicatesAreOneRow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, other := w.open(0), w.open(2)
	a := w.start(s, events.TurnObservation, w.tool(s, ""))
	w.keep(a, "A leak", "a race")
	b := w.start(s, events.TurnObservation, w.tool(s, ""))
	w.keep(b, "a  LEAK")
	c := w.start(other, events.TurnObservation, w.tool(other, ""))
	w.keep(c, "a leak")
	v := caughtUp(t, w)

	if diff := cmp.Diff([]string{"observation:a leak", "observation:a race", "observation:A leak"}, titles(mustRecent(t, v, rows.RecentFilter{}))); diff != "" {
		t.Fatalf("listed (-want +got):\n%s", diff)
	}
	lead, folded := mustRow(t, v, w.rows[0]), mustRow(t, v, w.rows[2])
	if lead.Count != 2 || !cmp.Equal(lead.Turns, []events.ID{a.id, b.id}) {
		t.Fatalf("lead: got count %d, turns %v", lead.Count, lead.Turns)
	}
	if folded.FoldedInto != lead.ID || folded.Listed() || folded.Count != 0 {
		t.Fatalf("folded: got %+v", folded)
	}
	turns, err := v.TurnsOf(t.Context(), lead.ID)
	if err != nil || len(turns) != 2 || turns[1].ID != b.id {
		t.Fatalf("turns of the lead: got %v, %v", turns, err)
	}

	// Without the first, the second stands for both.
	w.forget(true, []events.Position{lead.Position}, lead.ID)
	follow.MustCatchUp(t, v)
	second := mustRow(t, v, folded.ID)
	if !second.Listed() || second.Count != 1 || !cmp.Equal(second.Turns, []events.ID{b.id}) {
		t.Fatalf("after the lead was forgotten: got %+v", second)
	}
}

func TestFactsAloneAreNotDuplicates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	turn := w.start(s, events.TurnObservation, w.tool(s, ""))
	w.say(s.Stream(), turn.id, received(turn),
		events.ObservationParsed{Observation: w.id(), Turn: turn.id, Facts: []string{"one"}},
		events.ObservationParsed{Observation: w.id(), Turn: turn.id, Facts: []string{"two"}})
	if got := len(mustRecent(t, caughtUp(t, w), rows.RecentFilter{})); got != 2 {
		t.Fatalf("got %d rows, want 2", got)
	}
}

func TestLaterTurnsReplaceRows(t *testing.T) {
	t.Parallel()
	type step func(w *world, s events.SessionID, in []events.Position)
	keep := func(title string, from, to int) step {
		return func(w *world, s events.SessionID, in []events.Position) {
			w.keep(w.start(s, events.TurnObservation, in[from:to]...), title)
		}
	}
	skip := func(from, to int) step {
		return func(w *world, s events.SessionID, in []events.Position) {
			w.skip(w.start(s, events.TurnObservation, in[from:to]...))
		}
	}
	drop := func(from, to int) step {
		return func(w *world, s events.SessionID, in []events.Position) {
			w.drop(w.start(s, events.TurnObservation, in[from:to]...))
		}
	}
	forget := func(n int) step {
		return func(w *world, _ events.SessionID, in []events.Position) { w.forget(true, in[n:n+1]) }
	}
	elsewhere := func(n int) step { // named in another stream
		return func(w *world, _ events.SessionID, in []events.Position) {
			w.say(events.Daemon, events.ID{}, events.MemoryForgotten{Positions: in[n : n+1]})
		}
	}
	blank := func(from, to int) step {
		return func(w *world, s events.SessionID, in []events.Position) {
			w.blank(w.start(s, events.TurnObservation, in[from:to]...))
		}
	}
	for _, c := range []struct {
		name  string
		steps []step
		want  []string // newest first
	}{
		{"the same inputs", []step{keep("old", 0, 4), keep("new", 0, 4)}, []string{"new"}},
		{"in two halves", []step{keep("old", 0, 4), keep("left", 0, 2), keep("right", 2, 4)}, []string{"right", "left"}},
		{"only one half", []step{keep("old", 0, 4), keep("left", 0, 2)}, []string{"left", "old"}},
		{"other inputs", []step{keep("old", 0, 2), keep("more", 2, 4)}, []string{"more", "old"}},
		{"a skip takes nothing away", []step{keep("old", 0, 4), skip(0, 4)}, []string{"old"}},
		{"half kept, half skipped", []step{keep("old", 0, 4), keep("left", 0, 2), skip(2, 4)}, []string{"left"}},
		{"half skipped, half kept", []step{keep("old", 0, 4), skip(0, 2), keep("right", 2, 4)}, []string{"right"}},
		{"saying the same again", []step{keep("old", 0, 4), keep("OLD", 0, 4)}, []string{"OLD"}},
		{"the same in two halves", []step{keep("old", 0, 4), keep("OLD", 0, 2), keep("x", 2, 4)}, []string{"x", "OLD"}},
		{"a larger turn", []step{keep("a", 0, 2), keep("b", 2, 4), keep("c", 0, 4)}, []string{"c"}},
		{"three times", []step{keep("a", 0, 4), keep("b", 0, 4), keep("c", 0, 4)}, []string{"c"}},
		{"again after half", []step{keep("old", 0, 4), keep("a", 0, 2), keep("b", 0, 2)}, []string{"b", "old"}},
		{"the rest after that", []step{keep("old", 0, 4), keep("a", 0, 2), keep("b", 0, 2), keep("c", 2, 4)}, []string{"c", "b"}},
		{"a drop takes nothing away", []step{keep("old", 0, 4), drop(0, 4)}, []string{"old"}},
		{"half kept, half dropped", []step{keep("old", 0, 4), keep("left", 0, 2), drop(2, 4)}, []string{"left", "old"}},
		{"a blank takes nothing away", []step{keep("old", 0, 4), blank(0, 4)}, []string{"old"}},
		{"half kept, half blank", []step{keep("old", 0, 4), keep("left", 0, 2), blank(2, 4)}, []string{"left", "old"}},
		{"half blank, half kept", []step{keep("old", 0, 4), blank(0, 2), keep("right", 2, 4)}, []string{"right", "old"}},
		{"blank, then skipped", []step{keep("old", 0, 4), keep("left", 0, 2), blank(2, 4), skip(2, 4)}, []string{"left"}},
		{"skipped, then blank", []step{keep("old", 0, 4), keep("left", 0, 2), skip(2, 4), blank(2, 4)}, []string{"left"}},
		{"skipped, dropped, kept", []step{keep("old", 0, 4), skip(0, 4), drop(0, 4), keep("new", 0, 4)}, []string{"new"}},
		{"what is forgotten is not waited for", []step{keep("old", 0, 4), forget(3), keep("new", 0, 3)}, []string{"new"}},
		{"forgotten at last", []step{keep("old", 0, 4), keep("new", 0, 3), forget(3)}, []string{"new"}},
		{"forgotten in another stream", []step{keep("old", 0, 4), elsewhere(3), keep("new", 0, 3)}, []string{"new", "old"}},
		{"all forgotten", []step{keep("old", 0, 4), forget(0), forget(1), forget(2), forget(3)}, []string{"old"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := w.open(0)
			var in []events.Position
			for range 4 {
				in = append(in, w.tool(s, ""))
			}
			for _, step := range c.steps {
				step(w, s, in)
			}
			v := caughtUp(t, w)
			var got []string
			for _, row := range mustRecent(t, v, rows.RecentFilter{}) {
				got = append(got, row.Title)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Fatalf("listed (-want +got):\n%s", diff)
			}
			for _, id := range w.rows {
				if row := mustRow(t, v, id); row.Superseded != (row.SupersededBy != events.ID{}) || row.Title == "" {
					t.Fatalf("row is not readable, or does not say what took its place: %+v", row)
				}
			}
		})
	}
}

func TestSummariesAreReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	stop := w.say(s.Stream(), events.ID{}, events.AgentStopped{Cause: events.StopDone, Work: 1})[0].Position
	w.keep(w.start(s, events.TurnSummary, stop))
	again := w.start(s, events.TurnSummary, stop)
	w.keep(again)
	v := caughtUp(t, w)
	if old := mustRow(t, v, w.rows[0]); !old.Superseded || old.SupersededBy != again.id {
		t.Fatalf("old summary: got %+v", old)
	}
	if rows := mustRecent(t, v, rows.RecentFilter{Kinds: []rows.Kind{rows.Summary}}); len(rows) != 1 || rows[0].ID != w.rows[1] {
		t.Fatalf("listed: got %v", titles(rows))
	}
}

func TestMemories(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	then := epoch.AddDate(0, 0, -9)
	a := events.MemorySaved{Memory: w.id(), Project: "p0", ProjectRoot: "/home/u/p0", Title: "port", Text: "it is 80", Session: "mine", At: then}
	b := events.MemorySaved{Memory: w.id(), Project: "p0", ProjectRoot: "/home/u/p0", Title: "port", Text: "it is 81"}
	w.say(events.Daemon, events.ID{}, a, b, events.MemorySuperseded{Memory: a.Memory, By: b.Memory})
	v := caughtUp(t, w)
	old := mustRow(t, v, a.Memory)
	if old.Kind != rows.Memory || !old.At.Equal(then) || old.AgentSession != "mine" || old.SupersededBy != b.Memory || old.Listed() {
		t.Fatalf("superseded: got %+v", old)
	}
	if rows := mustRecent(t, v, rows.RecentFilter{ProjectRoot: "/home/u/p0"}); len(rows) != 1 || rows[0].Text != "it is 81" {
		t.Fatalf("listed: got %v", titles(rows))
	}

	w.forget(true, nil, b.Memory)
	follow.MustCatchUp(t, v)
	gone := mustRow(t, v, b.Memory)
	if !gone.Forgotten || gone.Kind != "" || gone.Text != "" || gone.Position == 0 || gone.Listed() {
		t.Fatalf("forgotten: got %+v", gone)
	}
}

func TestForgottenWordsAreGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	prompt := w.say(s.Stream(), events.ID{}, events.PromptSubmitted{Number: 1, Text: "the secret word"})[0]
	turn := w.start(s, events.TurnObservation, w.tool(s, `{"file_path":"/home/u/p0/a.go"}`))
	kept := w.keep(turn, "a leak")
	v := caughtUp(t, w)
	if got, _ := v.Session(t.Context(), s); got.Title != "the secret word" {
		t.Fatalf("title: got %q", got.Title)
	}
	var at []events.Position
	for _, r := range kept {
		at = append(at, r.Position)
	}
	w.forget(true, append(at, prompt.Position), w.rows[0], prompt.ID)
	follow.MustCatchUp(t, v)

	for _, id := range []events.ID{w.rows[0], prompt.ID} {
		if row := mustRow(t, v, id); !row.Forgotten || row.Title+row.Text+row.Narrative != "" {
			t.Fatalf("row: got %+v", row)
		}
	}
	got, err := v.Turn(t.Context(), turn.id)
	if err != nil || got.Result != turnpkg.Kept || got.Bill() != received(turn).Bill() || got.StopReason != "" || len(got.Rows) != 0 {
		t.Fatalf("turn: got %+v, %v", got, err)
	}
	if s, _ := v.Session(t.Context(), s); s.Title != "" || s.Prompts != 1 {
		t.Fatalf("session: got title %q, %d prompts", s.Title, s.Prompts)
	}
	if ids, err := v.Resolve(t.Context(), w.rows[0].String(), 5); err != nil || !cmp.Equal(ids, []events.ID{w.rows[0]}) {
		t.Fatalf("a forgotten id is not known any more: %v, %v", ids, err)
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	w.keep(w.start(s, events.TurnObservation, w.tool(s, "")), "one", "two")
	v := caughtUp(t, w)
	first, second := w.rows[0], w.rows[1]
	for _, c := range []struct {
		prefix string
		limit  int
		want   []events.ID
	}{
		{first.String(), 9, []events.ID{first}},
		{first.String()[:13], 9, []events.ID{first, second}},
		{first.String()[:12], 1, []events.ID{first}},
		{"zz", 9, nil},
		{"'", 9, nil},
		{first.String() + "0", 9, nil},
		{"ffffffff", 9, nil},
	} {
		got, err := v.Resolve(t.Context(), c.prefix, c.limit)
		if err != nil || len(got) != len(c.want) || len(got) > 0 && !cmp.Equal(got, c.want) {
			t.Errorf("%q: got %v, %v, want %v", c.prefix, got, err, c.want)
		}
	}
}

func TestRecentAndAround(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s0, s1 := w.open(0), w.open(1)
	w.say(s0.Stream(), events.ID{}, events.PromptSubmitted{Number: 1, Text: "please"}, events.PromptSubmitted{Number: 2, Private: true})
	w.keep(w.start(s0, events.TurnObservation, w.tool(s0, "")), "one", "two")
	w.keep(w.start(s1, events.TurnObservation, w.tool(s1, "")), "elsewhere")
	stop := w.say(s0.Stream(), events.ID{}, events.AgentStopped{Work: 1})[0].Position
	w.keep(w.start(s0, events.TurnSummary, stop))
	v := caughtUp(t, w)

	two := mustRow(t, v, w.rows[1])
	for _, c := range []struct {
		name string
		f    rows.RecentFilter
		want []string
	}{
		{"all", rows.RecentFilter{}, []string{"summary:do it", "observation:elsewhere", "observation:two", "observation:one", "prompt:please"}},
		{"project", rows.RecentFilter{ProjectRoot: "/home/u/p1"}, []string{"observation:elsewhere"}},
		{"kinds", rows.RecentFilter{Kinds: []rows.Kind{rows.Summary, rows.Prompt}}, []string{"summary:do it", "prompt:please"}},
		{"limit", rows.RecentFilter{Limit: 2}, []string{"summary:do it", "observation:elsewhere"}},
		{"since", rows.RecentFilter{Since: two.At, ProjectRoot: "/home/u/p0"}, []string{"summary:do it", "observation:two"}},
		{"match", rows.RecentFilter{Match: func(r rows.Row) bool { return r.Title == "one" }}, []string{"observation:one"}},
		{"done", rows.RecentFilter{Match: func(r rows.Row) bool { return r.Title != "two" }, Done: after(3)}, []string{"summary:do it", "observation:elsewhere"}},
		{"no such project", rows.RecentFilter{ProjectRoot: "/nowhere"}, nil},
	} {
		if diff := cmp.Diff(c.want, titles(mustRecent(t, v, c.f))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}

	for _, c := range []struct {
		name          string
		a             rows.Anchor
		before, after int
		older, newer  []string
	}{
		{"row", rows.Anchor{At: two.At, Position: two.Position}, 9, 9, []string{"prompt:please", "observation:one"}, []string{"summary:do it"}},
		{"position", rows.Anchor{Position: two.Position}, 1, 0, []string{"observation:one"}, nil},
		{"time", rows.Anchor{At: two.At.Add(-time.Nanosecond)}, 1, 1, []string{"observation:one"}, []string{"observation:two"}},
		{"the beginning", rows.Anchor{At: epoch.AddDate(-1, 0, 0)}, 5, 1, nil, []string{"prompt:please"}},
		{"the end", rows.Anchor{At: epoch.AddDate(1, 0, 0)}, 1, 5, []string{"summary:do it"}, nil},
	} {
		older, newer, err := v.Around(t.Context(), c.a, c.before, c.after, "/home/u/p0")
		if err != nil || !cmp.Equal(titles(older), c.older) || !cmp.Equal(titles(newer), c.newer) {
			t.Errorf("around %s: got %v | %v, %v", c.name, titles(older), titles(newer), err)
		}
	}
	if _, _, err := v.Around(t.Context(), rows.Anchor{Position: 999}, 1, 1, ""); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("around nothing: got %v, want engine.ErrNotFound", err)
	}
	prompts, err := v.Prompts(t.Context(), s0)
	if err != nil || len(prompts) != 2 || !prompts[1].Private {
		t.Errorf("prompts: got %v, %v", prompts, err)
	}
	of, err := v.RowsOf(t.Context(), s0)
	if err != nil || !cmp.Equal(titles(of), []string{"prompt:please", "observation:one", "observation:two", "summary:do it"}) {
		t.Errorf("rows of a session: got %v, %v", titles(of), err)
	}
}

// TestRecentReadsOn lets a filter pass over more rows than one transaction looks at.
func TestRecentReadsOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	turn := w.start(s, events.TurnObservation, w.tool(s, ""))
	var evs []events.Event
	for n := range 3*engine.ReadSlice + 7 {
		evs = append(evs, events.ObservationParsed{Observation: w.id(), Turn: turn.id, Title: string(rune('a'+n%26)) + time.Duration(n).String()})
	}
	w.say(s.Stream(), turn.id, evs...)
	v := caughtUp(t, w)
	seen := 0
	found := mustRecent(t, v, rows.RecentFilter{Match: func(r rows.Row) bool { seen++; return r.Title == "a0s" }})
	if len(found) != 1 || seen != len(evs) {
		t.Fatalf("got %d rows after %d of %d", len(found), seen, len(evs))
	}
	_, newer, err := v.Around(t.Context(), rows.Anchor{At: epoch}, 0, len(evs)+1, "")
	if err != nil || len(newer) != len(evs) || newer[0].ID != found[0].ID {
		t.Fatalf("forwards: got %d rows, %v", len(newer), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Recent(ctx, rows.RecentFilter{}); !errors.Is(err, context.Canceled) {
		t.Fatalf("with a dead context: got %v", err)
	}
}

// after is true the nth time it is asked.
func after(n int) func() bool {
	return func() bool { n--; return n == 0 }
}
