package erasure

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/usage"
)

// usage is what the views say that turns cost, as they stand and made anew from the log.
func (w *world) usage() (live, rebuilt []usage.Group) {
	w.tb.Helper()
	w.caughtUp()
	anew, err := projections.Open(w.tb.TempDir(), w.log, engine.Config{})
	if err != nil {
		w.tb.Fatal(err)
	}
	defer anew.Close()
	if err := anew.CatchUp(context.Background()); err != nil {
		w.tb.Fatal(err)
	}
	f := usage.Filter{By: usage.ByOutcome}
	if live, err = w.views.Usage(context.Background(), f); err == nil {
		rebuilt, err = anew.Usage(context.Background(), f)
	}
	if err != nil {
		w.tb.Fatal(err)
	}
	return live, rebuilt
}

// paidHistory is a session of three turns that were paid for: one kept something, one failed, one was skipped.
func paidHistory(w *world) {
	s := w.open("paid", "shop")
	in := []events.Position{w.tool(s, 1, "the secret word")}
	bill := events.Bill{
		Usage: events.Usage{Input: 1000, Cached: 400, Output: 50}, Model: "small-0101", Cost: 0.25, CostStated: true,
		Uncosted: events.Usage{Input: 100}, Calls: 2, SentBytes: 7000,
	}
	failed := w.start(s, events.TurnObservation, 1, in)
	w.say(s, failed, events.TurnFailed{Turn: failed, Class: events.FailTruncated, Output: events.NewOutput("the secret w")}.WithBill(bill))
	skipped := w.start(s, events.TurnObservation, 1, in)
	w.say(s, skipped, events.TurnReceived{Turn: skipped, Output: events.NewOutput("secret? nothing")}.WithBill(bill), events.OutputSkipped{Turn: skipped, Reason: "skip_summary", Stated: events.NewOutput("secret")})
	kept := w.start(s, events.TurnObservation, 1, in)
	w.say(s, kept, events.TurnReceived{Turn: kept, Output: events.NewOutput("raw secret")}.WithBill(bill))
	w.rows["secret"] = w.id()
	w.say(s, kept, events.ObservationParsed{Observation: w.rows["secret"], Turn: kept, Title: "secret", Prompt: 1})
}

// TestForgettingKeepsWhatWasPaid of every turn whose words go, in the views as they stand and in those made anew, also when
// what a crash left undone is finished later, and when the same is forgotten once more.
func TestForgettingKeepsWhatWasPaid(t *testing.T) {
	t.Parallel()
	for name, forget := range map[string]func(w *world){
		"a session": func(w *world) { w.forget(Request{Session: sessionOf("paid")}) },
		"twice": func(w *world) {
			w.forget(Request{IDs: []events.ID{w.rows["secret"]}})
			w.forget(Request{Session: sessionOf("paid")})
		},
		"named twice before it was erased": func(w *world) {
			var ends []events.Position
			for r, err := range w.log.All(t.Context(), 1) {
				if err != nil {
					t.Fatal(err)
				}
				if r.Kind == events.KindTurnReceived || r.Kind == events.KindTurnFailed {
					ends = append(ends, r.Position)
				}
			}
			stream := sessionOf("paid").Stream()
			if _, err := w.record(t.Context(), stream, ends, CausePerson); err != nil { // and then there was a crash
				t.Fatal(err)
			}
			if err := w.finish(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := w.record(t.Context(), stream, ends, CausePerson); err != nil { // nothing is left to be told
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			paidHistory(w)
			want, _ := w.usage()
			var sum usage.Count
			for _, g := range want {
				for _, m := range g.Models {
					sum.Add(m.Count, 1)
				}
			}
			if sum.Tokens() != 3150 || sum.Stated != 750_000_000 {
				t.Fatalf("the history cost %+v", sum)
			}
			forget(w)
			for r, err := range w.log.All(t.Context(), 1) {
				if err != nil {
					t.Fatal(err)
				}
				if (r.Kind == events.KindTurnReceived || r.Kind == events.KindTurnFailed) && !r.Erased {
					t.Errorf("record %d still holds an output", r.Position)
				}
			}
			live, rebuilt := w.usage()
			if diff := cmp.Diff(want, live); diff != "" {
				t.Errorf("live (-before +after):\n%s", diff)
			}
			if diff := cmp.Diff(want, rebuilt); diff != "" {
				t.Errorf("made anew (-before +after):\n%s", diff)
			}
		})
	}
}
