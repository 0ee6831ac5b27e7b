package recall

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
)

// turn has a turn over inputs say observations, and returns their ids.
func (w *world) turn(s events.SessionID, settles []events.Position, titles ...string) []events.ID {
	w.tb.Helper()
	turn := newID()
	w.put(s.Stream(), events.TurnStarted{
		Turn: turn, TurnKind: events.TurnObservation, Provider: "scripted", Settles: settles, Attempt: 1,
	})
	list := []events.Event{events.TurnReceived{Turn: turn, Form: events.FormXML, Output: events.NewOutput("<observation/>")}}
	var ids []events.ID
	for _, title := range titles {
		ids = append(ids, newID())
		list = append(list, events.ObservationParsed{Observation: ids[len(ids)-1], Turn: turn, Type: "bugfix", Title: title})
	}
	w.put(s.Stream(), list...)
	return ids
}

func titlesOf(rows []rows.Row) []string {
	out := []string{}
	for _, r := range rows {
		out = append(out, r.Title)
	}
	return out
}

// TestWhyOfWhatWasObservedAgain follows a row through two generations of answers to the same inputs.
func TestWhyOfWhatWasObservedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	var in []events.Position
	for range 2 {
		in = append(in, w.put(s.Stream(), events.ToolUsed{Tool: "Edit", Input: "{}", Output: "ok"})[0].Position)
	}
	first := w.turn(s, in, "cart wrong", "cart odd")[0]
	left := w.turn(s, in[:1], "cart left")[0]
	why := func(id events.ID) Why {
		t.Helper()
		w.sync()
		got, err := w.Why(t.Context(), WhyQuery{ID: id.String()})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := why(first); got.Row.Superseded || len(got.Newer) > 0 {
		t.Errorf("half observed again: got %+v, want a row that stands", got)
	}
	right := w.turn(s, in[1:], "cart right")[0]
	got := why(first)
	if !got.Row.Superseded || len(got.Turns) != 1 || len(got.Turns[0].Inputs) != 2 || got.Turns[0].Ended == 0 {
		t.Errorf("an old row is not explained any more: %+v", got)
	}
	if diff := cmp.Diff([]string{"cart left", "cart right"}, titlesOf(got.Newer)); diff != "" || len(got.Older) > 0 {
		t.Errorf("what took the place of the first (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"cart wrong", "cart odd"}, titlesOf(why(left).Older)); diff != "" {
		t.Errorf("what the left one took the place of (-want +got):\n%s", diff)
	}
	again := w.turn(s, in, "cart again")[0]
	if diff := cmp.Diff([]string{"cart wrong", "cart odd", "cart left", "cart right"}, titlesOf(why(again).Older)); diff != "" {
		t.Errorf("what the last one took the place of (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"cart again"}, titlesOf(why(right).Newer)); diff != "" {
		t.Errorf("what took the place of the right one (-want +got):\n%s", diff)
	}
	found := w.mustSearch(Query{Text: "cart", Kinds: []rows.Kind{rows.Observation}})
	if diff := cmp.Diff([]events.ID{again}, idsOf(found.Results)); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	if told := w.mustContext(Ask{ProjectRoot: "/src/shop"}); !cmp.Equal(told.IDs, []events.ID{again}) {
		t.Errorf("told %v, want the last alone", told.IDs)
	}
}

// TestWhatLaterLooksDoToARow looks at claims again: search, why and what sessions are told must agree on what that means.
func TestWhatLaterLooksDoToARow(t *testing.T) {
	t.Parallel()
	claim := func(v events.Verdict) events.Claim {
		return events.Claim{Kind: "commit", Value: "abcdef1", Verdict: v}
	}
	for _, c := range []struct {
		name    string
		then    events.Verdict
		later   []events.Verdict
		flagged bool
		gone    bool
	}{
		{"a lie", events.Absent, nil, true, false},
		{"absent then, verified now", events.Absent, []events.Verdict{events.Verified}, false, false},
		{"verified then, absent now", events.Verified, []events.Verdict{events.Absent}, false, true},
		{"verified then, absent, verified again", events.Verified, []events.Verdict{events.Absent, events.Verified}, false, false},
		{"absent then, verified, absent now", events.Absent, []events.Verdict{events.Verified, events.Absent}, false, true},
		{"unknown then, absent now", events.Unknown, []events.Verdict{events.Absent}, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := w.open("a", "shop")
			id := newID()
			w.put(s.Stream(), events.ObservationParsed{
				Observation: id, Type: "bugfix", Title: "Cart fixed", Claims: []events.Claim{claim(c.then)},
			})
			for _, v := range c.later {
				w.put(s.Stream(), events.ClaimChecked{Subject: id, Claim: claim(v)})
			}
			found := w.mustSearch(Query{Text: "cart"})
			if len(found.Results) != 1 || found.Results[0].Flagged != c.flagged {
				t.Errorf("found %+v, want one row, flagged %v", found.Results, c.flagged)
			}
			told := w.mustContext(Ask{ProjectRoot: "/src/shop", Explain: true})
			if told := strings.Contains(told.Text, "Cart fixed"); told == c.flagged {
				t.Errorf("told %v, flagged %v", told, c.flagged)
			}
			got, err := w.Why(t.Context(), WhyQuery{ID: id.String()})
			if err != nil || len(got.Verdicts) != 1 {
				t.Fatalf("got %+v, %v", got, err)
			}
			v := got.Verdicts[0]
			if v.Claim.Verdict != c.then || v.Gone() != c.gone || v.CheckedAt.IsZero() != (len(c.later) == 0) {
				t.Errorf("got %+v, want the verdict of then, gone %v, and when it was looked at", v, c.gone)
			}
			if len(c.later) > 0 && v.Now != c.later[len(c.later)-1] {
				t.Errorf("now %s, want %s", v.Now, c.later[len(c.later)-1])
			}
		})
	}
}
