package recall

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cmemd/cmemd/events"
	turnpkg "github.com/cmemd/cmemd/projections/turn"
)

// TestAsOfEveryMoment: a correction, its undoing and its repetition, inputs that were observed again, and an observation that
// was made twice. A search as of each position finds what was held to be so then, and how often it had been said; why says of
// each row the same, by the turns that had led to it.
func TestAsOfEveryMoment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	in := w.put(s.Stream(), events.ToolUsed{Tool: "Edit", Input: "{}", Output: "ok"})[0].Position
	first := w.turn(s, []events.Position{in}, "token first")[0]
	again := w.turn(s, []events.Position{in}, "token again")[0]
	more := w.put(s.Stream(), events.ToolUsed{Tool: "Edit", Input: "{}", Output: "more"})[0].Position
	repeat := w.turn(s, []events.Position{more}, "token again")[0]
	repeated, err := w.log.Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	old, fix := newID(), newID()
	from := w.put(events.Daemon, events.MemorySaved{Memory: old, Project: "shop", Text: "token lives an hour"})[0].Position
	w.put(events.Daemon, events.MemorySaved{Memory: fix, Project: "shop", Text: "token lives a day"}, events.MemorySuperseded{Memory: old, By: fix})
	w.put(events.Daemon, events.MemorySuperseded{Memory: fix, By: fix}, events.MemorySuperseded{Memory: old})
	last := w.put(events.Daemon, events.MemorySuperseded{Memory: fix}, events.MemorySuperseded{Memory: old, By: fix})[1].Position
	w.sync()
	stood := map[events.Position][]events.ID{
		from - 1: {again}, from: {again, old}, from + 1: {again, old, fix}, from + 2: {again, fix}, from + 3: {again},
		from + 4: {again, old}, from + 5: {again, old, fix}, last: {again, fix},
	}
	for at := events.Position(1); at <= last; at++ {
		found := w.mustSearch(Query{Text: "token", AsOf: at}).Results
		got := idsOf(found)
		if want, ok := stood[at]; ok {
			if diff := cmp.Diff(names(want), names(got)); diff != "" {
				t.Errorf("as of %d (-want +got):\n%s", at, diff)
			}
		}
		for _, it := range found {
			want := 1
			if it.ID == again && at >= repeated {
				want = 2
			}
			why, err := w.Why(t.Context(), WhyQuery{ID: it.ID.String(), AsOf: at})
			if err != nil || max(1, it.Count) != want || why.Row.Count != want || len(why.Row.Turns) != len(why.Turns) || it.ID == again && len(why.Turns) != want {
				t.Errorf("as of %d: %s: count %d, why: count %d, turns %v, %d shown, %v; want %d", at, it.ID, it.Count,
					why.Row.Count, why.Row.Turns, len(why.Turns), err, want)
			}
		}
		for _, id := range []events.ID{first, again, repeat, old, fix} {
			why, err := w.Why(t.Context(), WhyQuery{ID: id.String(), AsOf: at})
			if shown := slices.Contains(got, id); shown != (err == nil && why.Row.Listed()) {
				t.Errorf("as of %d: %s is shown: %t; why: superseded %t, %v", at, id, shown, why.Row.Superseded, err)
			}
		}
	}
	then, err := w.Why(t.Context(), WhyQuery{ID: old.String(), AsOf: from + 2})
	if err != nil || then.Row.SupersededBy != fix || !then.Row.ByHand || then.Replaced == nil || then.Replaced.ID != fix {
		t.Errorf("when it was corrected: %+v replaced by %+v, %v", then.Row, then.Replaced, err)
	}
}

// TestWhyAsOfTellsNothingLater: what a session had done, what had become of its inputs and turns, and who spoke for rows that
// say the same, as of each position of a session that goes on: the chain is the one that was told at that time.
func TestWhyAsOfTellsNothingLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	earlier := w.observe(w.open("before", "shop"), "discovery", "token known", "")
	w.put(s.Stream(), events.ContextInjected{Hook: "startup", IDs: []events.ID{earlier}})
	prompt := w.put(s.Stream(), events.PromptSubmitted{Number: 1, Text: "Mend the token"})[0]
	in := w.put(s.Stream(), events.ToolUsed{Tool: "Edit", Input: "{}", Output: "ok"})[0].Position
	turn, flagged := newID(), newID()
	absent := events.Claim{Kind: "commit", Value: "abcdef1", Verdict: events.Absent}
	w.put(s.Stream(), events.TurnStarted{Turn: turn, TurnKind: events.TurnObservation, Provider: "scripted", Settles: []events.Position{in}, Attempt: 1})
	w.put(s.Stream(), events.TurnReceived{Turn: turn, Form: events.FormXML},
		events.ObservationParsed{Observation: flagged, Turn: turn, Title: "token mended", Claims: []events.Claim{absent}})
	told := map[events.Position]Why{}
	look := func() Why {
		t.Helper()
		w.sync()
		at, err := w.log.Last(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if told[at], err = w.Why(t.Context(), WhyQuery{ID: flagged.String()}); err != nil {
			t.Fatal(err)
		}
		return told[at]
	}
	look()
	next := w.put(s.Stream(), events.ToolUsed{Tool: "Bash", Input: "{}", Output: "ok"})[0].Position
	w.put(s.Stream(), events.PromptSubmitted{Number: 2, Text: "And the rest"})
	look()
	failed := newID()
	w.put(s.Stream(), events.TurnStarted{Turn: failed, TurnKind: events.TurnObservation, Settles: []events.Position{in, next}, Attempt: 1})
	if got := look(); len(got.Attempts) != 1 || got.Attempts[0].Result != turnpkg.Running {
		t.Fatalf("attempts %+v", got.Attempts)
	}
	w.put(s.Stream(), events.TurnFailed{Turn: failed, Class: events.FailTimeout, Message: "too slow"})
	look()
	other := w.turn(s, []events.Position{next}, "token mended")[0]
	if got := look(); got.Row.FoldedInto != other || got.Replaced == nil {
		t.Fatalf("the flagged one leads: %+v", got.Row)
	}
	w.put(s.Stream(), events.SessionClosed{Cause: "exit"})
	look()
	for at, want := range told {
		got, err := w.Why(t.Context(), WhyQuery{ID: flagged.String(), AsOf: at})
		if err != nil {
			t.Fatal(err)
		}
		want.AsOf, want.Position = at, got.Position
		want.Session.Inputs.Reasons = nil
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Why{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("as of %d (-told then +told now):\n%s", at, diff)
		}
	}
	if _, err := w.Why(t.Context(), WhyQuery{ID: flagged.String(), AsOf: prompt.Position}); !errors.Is(err, ErrNotYet) {
		t.Errorf("before it was recorded: %v", err)
	}
}
