package projections

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
	"github.com/cmemd/cmemd/testkit/follow"
)

// TestForgetRequestsHide: rows that an agent has asked to forget are in no list until every request for them is settled, also in what
// memory was before the request; they keep their words, and inputs their outcomes.
func TestForgetRequestsHide(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	w.keep(w.start(s, events.TurnObservation, w.tool(s, "")), "one")
	w.keep(w.start(s, events.TurnObservation, w.tool(s, "")), "two")
	one, two := w.rows[0], w.rows[1]
	v := caughtUp(t, w)
	before, err := v.Balance(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	last, err := w.log.Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first, second := events.ID{15: 1}, events.ID{15: 2}
	ask := func(request events.ID, ids ...events.ID) {
		w.say(events.Daemon, events.ID{}, events.ForgetRequested{Request: request, IDs: ids, Writer: events.WriterAgent})
	}
	settle := func(request events.ID) {
		w.say(events.Daemon, events.ID{}, events.ForgetSettled{Request: request, Outcome: events.SettleRefused, Writer: events.WriterPerson})
	}
	check := func(what string, want ...events.ID) {
		t.Helper()
		follow.MustCatchUp(t, v)
		listed, err := v.RowsOf(t.Context(), s, rows.Observation)
		var got []events.ID
		for _, r := range listed {
			got = append(got, r.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s (-want +got), %v:\n%s", what, err, diff)
		}
	}
	check("before", one, two)
	ask(first, one)
	ask(first, two) // a request in two events
	check("asked")
	ask(second, one)
	settle(first)
	check("one is wanted by another still", two)
	then, err := v.RowsAsOf(t.Context(), last, time.Now(), one)
	if err != nil || then[0].Listed() || then[0].Title != "one" {
		t.Errorf("as of before the request: got %+v, %v, want it hidden, with its words", then, err)
	}
	after, err := v.Balance(t.Context())
	if diff := cmp.Diff(before, after); diff != "" || err != nil {
		t.Errorf("outcomes (-before +after), %v:\n%s", err, diff)
	}
	settle(second)
	settle(second)
	check("refused", one, two)
}

// TestWhatIsMadeLaterIsHiddenToo: a row that a turn makes of records that a request names, which it settles or only reads, is in no list
// either until that is settled.
func TestWhatIsMadeLaterIsHiddenToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	pending, begun, other := w.tool(s, ""), w.tool(s, ""), w.tool(s, "")
	running := w.start(s, events.TurnObservation, begun)
	request := events.ID{15: 1}
	w.say(events.Daemon, events.ID{}, events.ForgetRequested{Request: request, Positions: []events.Position{pending, begun}, Writer: events.WriterAgent})
	w.keep(running, "of a turn that had begun")
	w.keep(w.start(s, events.TurnObservation, pending), "of a turn that settles it")
	w.keep(w.start(s, events.TurnObservation, other), "of another")
	reads := &worldTurn{id: w.id(), session: s, kind: events.TurnObservation, settles: []events.Position{w.tool(s, "")}}
	w.say(s.Stream(), reads.id, events.TurnStarted{Turn: reads.id, TurnKind: reads.kind, Settles: reads.settles, Reads: []events.Position{pending}})
	w.keep(reads, "of a turn that only reads it")
	v := caughtUp(t, w)
	listed := func() (titles []string) {
		t.Helper()
		follow.MustCatchUp(t, v)
		list, err := v.RowsOf(t.Context(), s, rows.Observation)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			titles = append(titles, r.Title)
		}
		return titles
	}
	if diff := cmp.Diff([]string{"of another"}, listed()); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	w.say(events.Daemon, events.ID{}, events.ForgetSettled{Request: request, Outcome: events.SettleExpired})
	w.keep(w.start(s, events.TurnObservation, pending), "again")
	if diff := cmp.Diff([]string{"of a turn that had begun", "of another", "of a turn that only reads it", "again"}, listed()); diff != "" {
		t.Errorf("expired (-want +got):\n%s", diff)
	}
}

// TestForgottenRowsLeaveRequests: a row that was made of what an open request names, and then forgotten, leaves nothing at the request:
// views that saw it hold what views hold that see the log once. What the request itself names stays.
func TestForgottenRowsLeaveRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	named := w.keep(w.start(s, events.TurnObservation, w.tool(s, "")), "named")[1]
	in := w.tool(s, "")
	for n := range byte(2) { // of two requests
		w.say(events.Daemon, events.ID{}, events.ForgetRequested{
			Request: events.ID{15: n + 1}, IDs: w.rows[:1], Positions: []events.Position{in}, Writer: events.WriterAgent,
		})
	}
	made := w.keep(w.start(s, events.TurnObservation, in), "made", "made and stays")[1]
	summed := w.keep(w.start(s, events.TurnSummary, in))[1]
	v := caughtUp(t, w)
	w.forget(false, []events.Position{named.Position, made.Position, summed.Position})
	follow.MustCatchUp(t, v)
	if diff := cmp.Diff(dump(t, caughtUp(t, w)), dump(t, v)); diff != "" {
		t.Errorf("live differs (-once +live):\n%s", diff)
	}
}

// TestWriters: each row says who says it; what was saved before writers were recorded is of nobody known.
func TestWriters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	w.say(s.Stream(), events.ID{}, events.PromptSubmitted{Number: 1, Text: "go"}, events.PreferenceStated{Sentence: "Always.", Same: events.KeyOf("a")})
	turn := w.start(s, events.TurnObservation, w.tool(s, ""))
	w.say(s.Stream(), turn.id, received(turn), w.observation(turn, "seen"), w.summary(turn))
	for _, by := range []events.Writer{"", events.WriterAgent, events.WriterPerson} {
		w.say(events.Daemon, events.ID{}, events.MemorySaved{Memory: w.id(), Project: "p0", Text: "saved by " + string(by), Writer: by})
	}
	got := map[string]events.Writer{}
	recent, err := caughtUp(t, w).Recent(t.Context(), rows.RecentFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range recent {
		got[string(row.Kind)+" "+row.Text] = row.Writer
	}
	want := map[string]events.Writer{
		"prompt go": events.WriterPerson, "memory Always.": events.WriterPerson, "observation ": events.WriterObserver, "summary ": events.WriterObserver,
		"memory saved by ": events.WriterUnknown, "memory saved by agent": events.WriterAgent, "memory saved by person": events.WriterPerson,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
