package projections

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/follow"
)

// TestAskedOnceMore follows a closed session whose answers its state asks for once more by itself: a summary that is missing, and
// the batch whose answer earned the observer a fresh generation. Until then the session is to be woken at a start, and
// what is asked for once more counts as such.
func TestAskedOnceMore(t *testing.T) {
	t.Parallel()
	type step func(w *world, s events.SessionID, tool, stop events.Position)
	answer := func(kind events.TurnKind, end func(*world, *worldTurn)) step {
		return func(w *world, s events.SessionID, tool, stop events.Position) {
			at := tool
			if kind == events.TurnSummary {
				at = stop
			}
			end(w, w.start(s, kind, at))
		}
	}
	missing := answer(events.TurnSummary, func(w *world, turn *worldTurn) { w.blank(turn) })
	summary := answer(events.TurnSummary, func(w *world, turn *worldTurn) { w.keep(turn) })
	proseSummary := answer(events.TurnSummary, func(w *world, turn *worldTurn) { w.drop(turn) })
	prose := answer(events.TurnObservation, func(w *world, turn *worldTurn) { w.drop(turn) })
	fresh := answer(events.TurnObservation, func(w *world, turn *worldTurn) { w.refresh(turn) })
	kept := answer(events.TurnObservation, func(w *world, turn *worldTurn) { w.keep(turn, "x") })
	failed := answer(events.TurnSummary, func(w *world, turn *worldTurn) { w.fail(turn) })
	ask := func(w *world, s events.SessionID, tool, stop events.Position) {
		w.say(s.Stream(), events.ID{}, events.ReobserveRequested{Inputs: []events.Position{tool, stop}})
	}
	giveUp := func(w *world, s events.SessionID, _, stop events.Position) {
		w.say(s.Stream(), events.ID{}, events.InputsDropped{Inputs: []events.Position{stop}, Reason: events.DropExpired})
	}
	forget := func(w *world, _ events.SessionID, _, stop events.Position) { w.forget(true, []events.Position{stop}) }
	for _, c := range []struct {
		name  string
		steps []step
		want  int // inputs that are to be observed again
	}{
		{"nothing is missing", []step{kept, summary}, 0},
		{"a summary is missing", []step{kept, missing}, 1},
		{"and then it is there", []step{kept, missing, summary}, 0},
		{"and then it is missing again", []step{kept, missing, missing}, 0},
		{"and then there is prose", []step{kept, missing, proseSummary}, 0},
		{"and then the provider fails", []step{kept, missing, failed}, 1},
		{"prose for a summary is not asked about again", []step{kept, proseSummary}, 0},
		{"given up", []step{kept, missing, giveUp}, 0},
		{"forgotten", []step{kept, missing, forget}, 0},
		{"a person asks, and it is missing", []step{kept, summary, ask, missing}, 2},
		{"a person asks, and it is missing twice", []step{kept, summary, ask, missing, missing}, 1},
		{"missing, and then a person asks", []step{kept, missing, missing, ask, kept, missing}, 1},
		{"prose", []step{prose, summary}, 0},
		{"prose that earned a generation", []step{fresh, summary}, 1},
		{"and then it is kept", []step{fresh, summary, kept}, 0},
		{"and then prose again that earned another", []step{fresh, summary, fresh}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := w.open(0)
			tool := w.tool(s, "")
			stop := w.say(s.Stream(), events.ID{}, events.AgentStopped{Cause: events.StopDone, Work: 1})[0].Position
			w.say(s.Stream(), events.ID{}, events.SessionClosed{Cause: "exit"})
			for _, step := range c.steps {
				step(w, s, tool, stop)
			}
			v := caughtUp(t, w)
			b, err := v.BalanceOf(t.Context(), s)
			if err != nil || b.Reobserve != c.want || b.Pending != 0 {
				t.Errorf("got %+v, %v, want %d to be observed again", b, err, c.want)
			}
			ids, err := v.Owing(t.Context())
			if err != nil || slices.Contains(ids, s) != (c.want > 0) {
				t.Errorf("to be woken are %v, %v, want that session: %v", ids, err, c.want > 0)
			}
		})
	}
}

// TestAskedOnceMoreForWhatIsErased erases why answers are asked for once more: views that knew it end as those that never
// did. That an answer earned a fresh generation is not erased with it.
func TestAskedOnceMoreForWhatIsErased(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		end  func(*world, *worldTurn) []events.Record
		want int
	}{{"a missing summary", (*world).blank, 0}, {"a fresh generation", (*world).refresh, 1}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := w.open(0)
			stop := w.say(s.Stream(), events.ID{}, events.AgentStopped{Cause: events.StopDone, Work: 1})[0].Position
			said := c.end(w, w.start(s, events.TurnSummary, stop))
			v := caughtUp(t, w)
			if b, err := v.BalanceOf(t.Context(), s); err != nil || b.Reobserve != 1 {
				t.Fatalf("before: got %+v, %v", b, err)
			}
			w.forget(false, []events.Position{said[1].Position})
			follow.MustCatchUp(t, v)
			if b, err := v.BalanceOf(t.Context(), s); err != nil || b.Reobserve != c.want || b.Dropped != 1 {
				t.Errorf("after: got %+v, %v, want %d to be observed again", b, err, c.want)
			}
			if diff := cmp.Diff(dump(t, caughtUp(t, w)), dump(t, v)); diff != "" {
				t.Errorf("live differs (-once +live):\n%s", diff)
			}
		})
	}
}
