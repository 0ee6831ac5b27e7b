package projections

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/outcomes"
	"github.com/cmemd/cmemd/projections/turn"
	"github.com/cmemd/cmemd/testkit/follow"
)

// TestReplacements asks rows of every generation what they replaced and what replaced them.
func TestReplacements(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	var in []events.Position
	for range 4 {
		in = append(in, w.tool(s, ""))
	}
	row := map[string]events.ID{}
	keep := func(title string, settles ...events.Position) {
		w.keep(w.start(s, events.TurnObservation, settles...), title)
		row[title] = w.rows[len(w.rows)-1]
	}
	keep("first", in...)
	keep("left", in[:2]...)
	v := caughtUp(t, w)
	check := func(title string, older, newer []string) {
		t.Helper()
		follow.MustCatchUp(t, v)
		a, b, err := v.Replacements(t.Context(), row[title])
		var had, got []string
		for _, r := range a {
			had = append(had, r.Title)
		}
		for _, r := range b {
			got = append(got, r.Title)
		}
		if err != nil || !cmp.Equal(had, older) || !cmp.Equal(got, newer) {
			t.Errorf("%s: got %v before and %v after, %v, want %v and %v", title, had, got, err, older, newer)
		}
	}
	check("first", nil, nil) // in part only: it stands
	check("left", nil, nil)
	keep("right", in[2:]...)
	check("first", nil, []string{"left", "right"})
	check("left", []string{"first"}, nil)
	check("right", []string{"first"}, nil)
	keep("again", in[2:]...)
	check("first", nil, []string{"left", "right", "again"})
	check("right", []string{"first"}, []string{"again"})
	check("again", []string{"first", "right"}, nil)
	w.skip(w.start(s, events.TurnObservation, in...))
	check("again", []string{"first", "right"}, nil)
	w.forget(true, nil, row["right"])
	check("again", []string{"first"}, nil)
	if _, _, err := v.Replacements(t.Context(), events.ID{9}); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("an unknown row: got %v, want engine.ErrNotFound", err)
	}
	if _, _, err := v.Replacements(t.Context(), row["right"]); err != nil {
		t.Errorf("a forgotten row: got %v", err)
	}
}

// TestReplacementsAcrossKinds has a turn that gave an observation and a summary replaced by one that gave an observation.
func TestReplacementsAcrossKinds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	in := w.tool(s, "")
	both := w.start(s, events.TurnObservation, in)
	w.say(s.Stream(), both.id, received(both), w.observation(both, "old"), w.summary(both))
	w.keep(w.start(s, events.TurnObservation, in), "new")
	v := caughtUp(t, w)
	older, newer, err := v.Replacements(t.Context(), w.rows[2])
	if err != nil || len(older) != 2 || older[0].ID != w.rows[0] || older[1].ID != w.rows[1] || len(newer) != 0 {
		t.Errorf("the new one replaced %v (%v), want both of the old turn", titles(older), err)
	}
	if sum := mustRow(t, v, w.rows[1]); sum.Listed() {
		t.Error("the summary that came beside what was replaced is still listed")
	}
	_, newer, err = v.Replacements(t.Context(), w.rows[1])
	if err != nil || len(newer) != 1 || newer[0].ID != w.rows[2] {
		t.Errorf("the summary was replaced by %v (%v), want the new observation", titles(newer), err)
	}
}

func TestLedger(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.open(0), w.open(1)
	first := w.tool(a, "")
	w.tool(b, "")
	w.tool(b, "")
	turn := w.start(a, events.TurnObservation, first)
	w.keep(turn, "x")
	last := w.say(a.Stream(), events.ID{}, events.ReobserveRequested{Turns: []events.ID{turn.id}, Inputs: []events.Position{first}})[0].Position
	v := caughtUp(t, w)
	got, err := v.Ledger(t.Context())
	want := outcomes.Ledger{
		Position: last, All: outcomes.Balance{Balance: session.Balance{Captured: 3, Observed: 1, Pending: 2}, Reobserve: 1},
		Sessions: map[events.SessionID]outcomes.Balance{
			a: {Balance: session.Balance{Captured: 1, Observed: 1}, Reobserve: 1}, b: {Balance: session.Balance{Captured: 2, Pending: 2}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	both, err := v.BalanceOfAll(t.Context(), []events.SessionID{a, b, sessionOf(9)})
	if diff := cmp.Diff(want.All, both); diff != "" || err != nil {
		t.Errorf("of both sessions: %v (-want +got):\n%s", err, diff)
	}
}

func TestTurnsByBeginningAndLatest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	in := w.tool(s, "")
	var ids []events.ID
	for range 3 {
		turn := w.start(s, events.TurnObservation, in)
		w.keep(turn, "x")
		ids = append(ids, turn.id)
	}
	v := caughtUp(t, w)
	got, err := v.ResolveTurn(t.Context(), ids[1].String(), 5)
	if err != nil || !cmp.Equal(got, ids[1:2]) {
		t.Errorf("by its id: got %v, %v", got, err)
	}
	if got, err = v.ResolveTurn(t.Context(), ids[1].String()[:4], 2); err != nil || len(got) != 2 {
		t.Errorf("by a beginning that three have, at most two: got %v, %v", got, err)
	}
	for _, none := range []string{"ffffffff", "no digits", ids[0].String() + "00"} {
		if got, err := v.ResolveTurn(t.Context(), none, 5); err != nil || len(got) != 0 {
			t.Errorf("%q: got %v, %v, want none", none, got, err)
		}
	}
	for _, c := range []struct {
		limit, looked int
		match         func(turn.Turn) bool
		want          []events.ID
	}{
		{5, 5, nil, []events.ID{ids[2], ids[1], ids[0]}},
		{2, 5, nil, []events.ID{ids[2], ids[1]}},
		{5, 1, nil, []events.ID{ids[2]}},
		{5, 5, func(t turn.Turn) bool { return t.ID == ids[0] }, []events.ID{ids[0]}},
		{5, 2, func(t turn.Turn) bool { return t.ID == ids[0] }, nil},
	} {
		turns, err := v.LatestTurns(t.Context(), c.limit, c.looked, c.match)
		var got []events.ID
		for _, turn := range turns {
			got = append(got, turn.ID)
		}
		if err != nil || !cmp.Equal(got, c.want) {
			t.Errorf("limit %d of %d: got %v, %v, want %v", c.limit, c.looked, got, err, c.want)
		}
	}
}

// TestBlankAnswersAreNotForgotten tells what a model stated, which may be erased, from a blank answer, which states nothing
// and would be taken for a decision if nobody could see any more that it was blank.
func TestBlankAnswersAreNotForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	in := w.tool(s, "")
	skipped, blank := w.skip(w.start(s, events.TurnObservation, in))[1], w.blank(w.start(s, events.TurnObservation, in))[1]
	for _, c := range []struct {
		r    events.Record
		want bool
	}{{skipped, true}, {blank, false}} {
		if got := engine.Forgettable(c.r); got != c.want {
			t.Errorf("%s at %d: got %v, want %v", c.r.Kind, c.r.Position, got, c.want)
		}
	}
}
