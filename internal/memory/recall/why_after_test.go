package recall

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
)

// TestWhyTellsWhatCameAfter: other turns over the same inputs, who erased what, what became of the row; and as of a position
// only what was known there.
func TestWhyTellsWhatCameAfter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	used := w.put(s.Stream(),
		events.ToolUsed{Tool: "Bash", Input: `{"command":"one"}`, Output: "first"}, events.ToolUsed{Tool: "Bash", Output: "second"},
	)
	settles := []events.Position{used[0].Position, used[1].Position}
	begin := func() events.ID {
		turn := newID()
		w.put(s.Stream(), events.TurnStarted{Turn: turn, TurnKind: events.TurnObservation, Provider: "scripted", Settles: settles, Attempt: 1})
		return turn
	}
	failed := begin()
	w.put(s.Stream(), events.TurnFailed{Turn: failed, Class: events.FailTimeout, Message: "too slow"})
	turn, id := begin(), newID()
	claim := events.Claim{Kind: "commit", Value: "abcdef1", Verdict: events.Absent}
	row := w.put(s.Stream(), events.TurnReceived{Turn: turn, Output: events.NewOutput("raw")},
		events.ObservationParsed{Observation: id, Turn: turn, Title: "it was so", Claims: []events.Claim{claim}})[1]
	claim.Verdict = events.Verified
	checked := w.put(s.Stream(), events.ClaimChecked{Subject: id, Claim: claim})[0]
	given := w.put(w.open("b", "shop").Stream(), events.ContextInjected{Hook: "startup", IDs: []events.ID{id}})[0]
	fix := newID()
	by := w.put(events.Daemon, events.MemorySaved{Memory: fix, Project: "shop", Title: "it was not so"}, events.MemorySuperseded{Memory: id, By: fix})[1]
	undone := w.put(events.Daemon, events.MemorySuperseded{Memory: fix, By: fix}, events.MemorySuperseded{Memory: id})[1]
	gone := w.put(s.Stream(), events.MemoryForgotten{Positions: settles[1:], Cause: "retention"})[0]
	if err := w.log.Erase(t.Context(), settles[1]); err != nil {
		t.Fatal(err)
	}
	w.sync()
	look := func(at events.Position) (Why, []string) {
		t.Helper()
		got, err := w.Why(t.Context(), WhyQuery{ID: id.String(), AsOf: at})
		if err != nil {
			t.Fatal(err)
		}
		var what []string
		for _, a := range got.After {
			what = append(what, a.What)
		}
		return got, what
	}
	got, what := look(0)
	if diff := cmp.Diff([]string{AfterChecked, AfterGiven, AfterSuperseded, AfterRestored}, what); diff != "" {
		t.Errorf("what came after (-want +got):\n%s", diff)
	}
	if len(got.Attempts) != 1 || got.Attempts[0].ID != failed || got.Attempts[0].Later || got.Attempts[0].Message != "too slow" {
		t.Errorf("attempts %+v", got.Attempts)
	}
	in := got.Turns[0].Inputs
	if in[0].Why != nil || in[1].Why == nil || in[1].Why.Cause != "retention" || in[1].Why.Position != gone.Position {
		t.Errorf("why the second is erased: %+v; the first: %+v", in[1].Why, in[0].Why)
	}
	for _, c := range []struct {
		at         events.Position
		after      int
		superseded bool
		flagged    bool
	}{
		{row.Position, 0, false, true}, {checked.Position, 1, false, false}, {given.Position, 2, false, false},
		{by.Position, 3, true, false}, {undone.Position, 4, false, false},
	} {
		then, what := look(c.at)
		if len(what) != c.after || then.Row.Superseded != c.superseded || then.Row.Flagged != c.flagged {
			t.Errorf("as of %d: %v, superseded %t, flagged %t; want %+v", c.at, what, then.Row.Superseded, then.Row.Flagged, c)
		}
	}
	if _, err := w.Why(t.Context(), WhyQuery{ID: id.String(), AsOf: row.Position - 1}); !errors.Is(err, ErrNotYet) {
		t.Errorf("before it was recorded: %v, want ErrNotYet", err)
	}
}

// TestInputs returns what the tools printed, whole, in pages, and says of what is gone who had it erased.
func TestInputs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	long := strings.Repeat("é", inputText)
	used := w.put(s.Stream(),
		events.ToolUsed{Tool: "Bash", Input: `{"command":"one"}`, Output: "first\nline", Cwd: "/src", Failed: true, DurationMS: 7},
		events.ToolUsed{Tool: "Bash", Output: "second"}, events.ToolUsed{Tool: "Bash", Output: long},
		events.AgentStopped{LastMessage: "done", Work: 3},
	)
	var settles []events.Position
	for _, r := range used {
		settles = append(settles, r.Position)
	}
	turn, id := newID(), newID()
	w.put(s.Stream(), events.TurnStarted{Turn: turn, TurnKind: events.TurnObservation, Settles: settles, Attempt: 1},
		events.TurnReceived{Turn: turn, Output: events.NewOutput("raw")}, events.ObservationParsed{Observation: id, Turn: turn, Title: "so"},
		events.MemoryForgotten{Positions: settles[1:2], Cause: "person"})
	if err := w.log.Erase(t.Context(), settles[1]); err != nil {
		t.Fatal(err)
	}
	w.sync()
	first, err := w.Inputs(t.Context(), InputsQuery{ID: id.String(), Limit: 3})
	if err != nil || first.Total != 4 || len(first.Inputs) != 3 || first.Next != settles[2] {
		t.Fatalf("%d of %d, next %d, %v", len(first.Inputs), first.Total, first.Next, err)
	}
	in := first.Inputs[0]
	if in.Input != `{"command":"one"}` || in.Output != "first\nline" || !in.Failed || in.DurationMS != 7 || in.Cwd != "/src" || in.Cut {
		t.Errorf("the first is %+v", in)
	}
	if e := first.Inputs[1].Erased; e == nil || e.Cause != "person" || e.At.IsZero() || first.Inputs[1].Output != "" {
		t.Errorf("the second is %+v", first.Inputs[1])
	}
	if in := first.Inputs[2]; !in.Cut || len(in.Output) > inputText || !strings.HasPrefix(long, in.Output) {
		t.Errorf("the third has %d bytes, cut %t", len(in.Output), in.Cut)
	}
	rest, err := w.Inputs(t.Context(), InputsQuery{ID: id.String(), After: first.Next})
	if err != nil || len(rest.Inputs) != 1 || rest.Inputs[0].Text != "done" || rest.Next != 0 {
		t.Errorf("the rest is %+v, %v", rest, err)
	}
	if _, err := w.Inputs(t.Context(), InputsQuery{ID: id.String(), Limit: MaxInputs + 1}); !errors.Is(err, ErrBadQuery) {
		t.Errorf("too many: %v", err)
	}
	if _, err := w.Inputs(t.Context(), InputsQuery{ID: newID().String()}); !errors.Is(err, ErrNotFound) {
		t.Errorf("an unknown row: %v", err)
	}
}
