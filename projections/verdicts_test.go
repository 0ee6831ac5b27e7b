package projections

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
)

func TestFlagged(t *testing.T) {
	t.Parallel()
	absent := events.Claim{Kind: "commit", Value: "abc1234", Verdict: events.Absent}
	there := events.Claim{Kind: "commit", Value: "abc1234", Verdict: events.Verified}
	other := events.Claim{Kind: "commit", Value: "fff0000", Verdict: events.Verified}
	never := events.Claim{Kind: "commit", Value: "eee0000", Verdict: events.Absent}
	unknown := events.Claim{Kind: "commit", Value: "abc1234", Verdict: events.Unknown}
	for _, c := range []struct {
		name   string
		claims []events.Claim
		unseen bool
		later  []events.Claim
		want   bool
	}{
		{"nothing", nil, false, nil, false},
		{"verified", []events.Claim{there}, false, nil, false},
		{"absent", []events.Claim{other, absent}, false, nil, true},
		{"unseen files", nil, true, nil, true},
		{"found later", []events.Claim{absent}, false, []events.Claim{there}, false},
		{"lost later", []events.Claim{there}, false, []events.Claim{there, absent}, false},
		{"lost and found", []events.Claim{there}, false, []events.Claim{absent, there}, false},
		{"found and lost again", []events.Claim{absent}, false, []events.Claim{there, absent}, false},
		{"unknown, and never there", []events.Claim{unknown}, false, []events.Claim{absent}, true},
		{"lost, and another one never there", []events.Claim{there, never}, false, []events.Claim{absent}, true},
		{"found, with unseen files", []events.Claim{absent}, true, []events.Claim{there}, true},
		{"another one found", []events.Claim{absent}, false, []events.Claim{other}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := w.open(0)
			turn := w.start(s, events.TurnObservation, w.tool(s, ""))
			id := w.id()
			w.say(s.Stream(), turn.id, received(turn), events.ObservationParsed{
				Observation: id, Turn: turn.id, Title: "x", Claims: c.claims, Unseen: c.unseen,
			})
			for _, later := range c.later {
				w.say(s.Stream(), events.ID{}, events.ClaimChecked{Subject: id, Claim: later})
			}
			row := mustRow(t, caughtUp(t, w), id)
			if row.Flagged != c.want || len(row.Checks) != len(c.later) || !cmp.Equal(row.Claims, c.claims) {
				t.Fatalf("got flagged %v, checks %v, claims %v", row.Flagged, row.Checks, row.Claims)
			}
		})
	}
}

// TestFlaggedDuplicates has some of the rows that say the same make a claim that nothing bears out: what is true is
// listed whichever came first.
func TestFlaggedDuplicates(t *testing.T) {
	t.Parallel()
	absent := events.Claim{Kind: "commit", Value: "abc1234", Verdict: events.Absent}
	verified := events.Claim{Kind: "commit", Value: "abc1234", Verdict: events.Verified}
	unknown := events.Claim{Kind: "commit", Value: "abc1234", Verdict: events.Unknown}
	type check struct {
		row   int
		claim events.Claim
	}
	for _, c := range []struct {
		name   string
		claims []events.Claim
		later  []check
		forget []int
		lead   int
		count  int
	}{
		{name: "all true", claims: []events.Claim{verified, verified}, lead: 0, count: 2},
		{name: "none true", claims: []events.Claim{absent, absent}, lead: 0, count: 2},
		{name: "the first alone is not", claims: []events.Claim{absent, verified, verified}, lead: 1, count: 3},
		{name: "a later one is not", claims: []events.Claim{verified, absent, verified}, lead: 0, count: 3},
		{name: "the first is found after all", claims: []events.Claim{absent, verified}, later: []check{{0, verified}}, lead: 0, count: 2},
		{name: "the first is gone later", claims: []events.Claim{verified, verified}, later: []check{{0, absent}}, lead: 0, count: 2},
		{name: "the first was never there", claims: []events.Claim{unknown, verified}, later: []check{{0, absent}}, lead: 1, count: 2},
		{name: "none was ever there", claims: []events.Claim{unknown, unknown}, later: []check{{0, absent}, {1, absent}}, lead: 0, count: 2},
		{name: "the true one is forgotten", claims: []events.Claim{absent, verified, absent}, forget: []int{1}, lead: 0, count: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := w.open(0)
			for _, claim := range c.claims {
				turn := w.start(s, events.TurnObservation, w.tool(s, ""))
				o := w.observation(turn, "a leak")
				o.Claims = []events.Claim{claim}
				w.say(s.Stream(), turn.id, received(turn), o)
			}
			for _, l := range c.later {
				w.say(s.Stream(), events.ID{}, events.ClaimChecked{Subject: w.rows[l.row], Claim: l.claim})
			}
			for _, n := range c.forget {
				w.forget(true, nil, w.rows[n])
			}
			v := caughtUp(t, w)
			rows := mustRecent(t, v, rows.RecentFilter{})
			if len(rows) != 1 || rows[0].ID != w.rows[c.lead] || rows[0].Count != c.count || len(rows[0].Turns) != c.count {
				t.Fatalf("listed: got %+v, want row %d for %d", rows, c.lead, c.count)
			}
			for n, id := range w.rows {
				if n == c.lead || slices.Contains(c.forget, n) {
					continue
				}
				if row := mustRow(t, v, id); row.FoldedInto != w.rows[c.lead] || row.Count != 0 {
					t.Fatalf("row %d: got %+v, want it folded into row %d", n, row, c.lead)
				}
			}
		})
	}
}
