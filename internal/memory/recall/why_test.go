package recall

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/outcomes"
)

func TestWhyLeadsBackToTheEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	earlier := w.observe(w.open("before", "shop"), "discovery", "What was known", "")
	s := w.open("a", "shop")
	w.put(s.Stream(), events.ContextInjected{Hook: "startup", IDs: []events.ID{earlier}, Characters: 700, Position: 3})
	prompt := w.put(s.Stream(), events.PromptSubmitted{Number: 1, Text: "Fix the cart"})[0]
	used := w.put(s.Stream(),
		events.ToolUsed{Tool: "Edit", Input: `{"file":"cart.go"}`, Output: "ok", Prompt: 1},
		events.ToolUsed{Tool: "Bash", Input: `{"command":"secret"}`, Output: "fine", Prompt: 1},
	)
	turn, id := newID(), newID()
	w.put(s.Stream(), events.TurnStarted{Turn: turn, TurnKind: events.TurnObservation, Provider: "scripted", Settles: []events.Position{used[0].Position, used[1].Position}, Attempt: 1, Prompt: 1})
	claim := events.Claim{Kind: "commit", Value: "abcdef1", Verdict: events.Unknown}
	rows := w.put(s.Stream(),
		events.TurnReceived{Turn: turn, Form: events.FormXML, Output: events.NewOutput("<observation>raw words</observation>"), LatencyMS: 12},
		events.ObservationParsed{Observation: id, Turn: turn, Type: "bugfix", Title: "Cart fixed", Claims: []events.Claim{claim}, Prompt: 1},
	)
	look := w.put(s.Stream(), events.ClaimChecked{Subject: id, Claim: events.Claim{Kind: "commit", Value: "abcdef1", Verdict: events.Verified, Evidence: "whole"}})[0]
	if err := w.log.Erase(t.Context(), used[1].Position); err != nil {
		t.Fatal(err)
	}
	w.sync()
	got, err := w.Why(t.Context(), WhyQuery{ID: id.String()[:18]})
	if err != nil {
		t.Fatal(err)
	}
	if got.Row.ID != id || !got.RecordedAt.Equal(rows[1].RecordedAt) || got.Session == nil || got.Session.AgentSession != "a" {
		t.Errorf("row %s of %s, session %+v", got.Row.ID, got.RecordedAt, got.Session)
	}
	if len(got.Turns) != 1 || got.Turns[0].ID != turn || got.Turns[0].Provider != "scripted" || len(got.Turns[0].Inputs) != 2 {
		t.Fatalf("turns %+v", got.Turns)
	}
	in := got.Turns[0].Inputs
	if in[0].Kind != events.KindToolUsed || in[0].Outcome != outcomes.Observed || in[0].Tool != "Edit" || in[0].Preview != `{"file":"cart.go"} -> ok` || in[0].Erased {
		t.Errorf("first input %+v", in[0])
	}
	if !in[1].Erased || in[1].Preview != "" || in[1].Position != used[1].Position {
		t.Errorf("erased input %+v", in[1])
	}
	if len(got.Prompts) != 1 || got.Prompts[0].ID != prompt.ID || got.Prompts[0].Text != "Fix the cart" {
		t.Errorf("prompts %+v", got.Prompts)
	}
	if len(got.Injections) != 1 || !slices.Equal(got.Injections[0].IDs, []events.ID{earlier}) {
		t.Errorf("injections %+v", got.Injections)
	}
	if diff := cmp.Diff([]Verdict{{Claim: claim, Now: events.Verified, Evidence: "whole", CheckedAt: look.OccurredAt, Verified: true}}, got.Verdicts); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestWhyOfASavedMemory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old, by := newID(), newID()
	w.put(events.Daemon,
		events.MemorySaved{Memory: old, Project: "shop", Title: "Old", Text: "words"},
		events.MemorySaved{Memory: by, Project: "shop", Title: "New", Text: "words"},
		events.MemorySuperseded{Memory: old, By: by},
	)
	w.sync()
	got, err := w.Why(t.Context(), WhyQuery{ID: old.String()})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Turns) != 0 || got.RecordedAt.IsZero() || got.Replaced == nil || got.Replaced.ID != by {
		t.Errorf("got %+v", got)
	}
}

func TestWhyOfAForgottenRow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	id := newID()
	rec := w.put(s.Stream(), events.ObservationParsed{Observation: id, Title: "secret words"})[0]
	if err := w.log.Erase(t.Context(), rec.Position); err != nil {
		t.Fatal(err)
	}
	w.put(s.Stream(), events.MemoryForgotten{IDs: []events.ID{id}, Positions: []events.Position{rec.Position}, Cause: "person"})
	w.sync()
	got, err := w.Why(t.Context(), WhyQuery{ID: id.String()})
	if err != nil {
		t.Fatal(err)
	}
	if !got.Row.Forgotten || got.Row.Title != "" || got.Forgotten == nil || got.Forgotten.Cause != "person" || got.Forgotten.Records != 1 {
		t.Errorf("got %+v, forgotten %+v", got, got.Forgotten)
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	put := func(text string) events.ID {
		id := uuid.MustParse(text)
		w.put(events.Daemon, events.MemorySaved{Memory: id, Text: text})
		return id
	}
	a := put("01a1fa47-2048-7378-adac-92eea5ab1823")
	put("01a1fa47-2048-7999-adac-92eea5ab1823")
	lone := put("f00dfeed-0000-7000-8000-000000000001")
	w.sync()
	for _, tc := range []struct {
		text string
		want events.ID
		err  error
	}{
		{a.String(), a, nil},
		{"01a1fa47-2048-73", a, nil},
		{"01A1FA47204873", a, nil},
		{" f00dfeed ", lone, nil},
		{"01a1fa47", events.ID{}, ErrAmbiguous},
		{"f00dfee", events.ID{}, ErrBadID},
		{"f00dfeed-0000-7000-8000-0000000000011", events.ID{}, ErrBadID},
		{"not-an-id", events.ID{}, ErrBadID},
		{"", events.ID{}, ErrBadID},
		{"ffffffff", events.ID{}, ErrNotFound},
	} {
		got, err := w.Resolve(t.Context(), tc.text)
		if got != tc.want || !errors.Is(err, tc.err) {
			t.Errorf("%q: got %s, %v, want %s, %v", tc.text, got, err, tc.want, tc.err)
		}
	}
	var many *AmbiguousError
	if _, err := w.Show(t.Context(), "f00dfeed", "01a1fa47"); !errors.As(err, &many) || len(many.Choices) != 2 {
		t.Errorf("got %v", err)
	}
}

// TestWithheldWords: what another machine keeps is not said to be erased.
func TestWithheldWords(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, false)
	s := w.open("a", "shop")
	used := w.put(s.Stream(), events.ToolUsed{Tool: "Edit", Output: "theirs"}, events.ToolUsed{Tool: "Edit", Output: "forgotten"})
	settles := []events.Position{used[0].Position, used[1].Position}
	turn, id := newID(), newID()
	w.put(s.Stream(), events.TurnStarted{Turn: turn, TurnKind: events.TurnObservation, Provider: "scripted", Settles: settles, Attempt: 1})
	w.put(s.Stream(),
		events.TurnReceived{Turn: turn, Form: events.FormXML, Output: events.NewOutput("<observation/>")},
		events.ObservationParsed{Observation: id, Turn: turn, Type: "bugfix", Title: "Cart fixed"},
	)
	if err := errors.Join(w.own.Withhold(t.Context(), settles[0]), w.own.Erase(t.Context(), settles[1])); err != nil {
		t.Fatal(err)
	}
	w.sync()
	why, err := w.Why(t.Context(), WhyQuery{ID: id.String()})
	if err != nil {
		t.Fatal(err)
	}
	if in := why.Turns[0].Inputs; !in[0].Erased || !in[0].Why.IsWithheld() || in[1].Why.IsWithheld() {
		t.Errorf("why: got %+v", in)
	}
	got, err := w.Inputs(t.Context(), InputsQuery{ID: id.String()})
	if err != nil {
		t.Fatal(err)
	}
	if in := got.Inputs; !in[0].Erased.IsWithheld() || in[1].Erased == nil || in[1].Erased.IsWithheld() {
		t.Errorf("inputs: got %+v", in)
	}
}
