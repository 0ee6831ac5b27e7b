package replay

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// took is e, whose turn began so long before.
func took(ms int64, e Event) Event {
	e.TookMS = ms
	return e
}

// TestATurnInFlightIsNotHeldBack records two turns side by side: one meets a limit, the other is answered five seconds
// later. The record says that it was.
func TestATurnInFlightIsNotHeldBack(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.begin(nil)
	s.work("a", 2)
	s.stop("a")
	s.work("b", 3)
	s.stop("b")
	s.mustStart("a")
	s.later(time.Second)
	s.mustStart("b")
	s.later(9 * time.Second)
	s.fail("a", events.FailLimit, time.Hour)
	s.later(5 * time.Second)
	s.answer("b", observed)
	s.mustStart("a")
	s.later(10 * time.Second)
	s.answer("a", observed)
	rec := s.record(Wanted{})
	var began []int64
	for _, e := range rec.Scenario.Events {
		began = append(began, e.AtMS-e.TookMS)
	}
	if d := cmp.Diff([]int64{-10_000, -9_000, 3_600_000}, began); d != "" {
		t.Errorf("beginnings (-want +got):\n%s", d)
	}
	for _, name := range policy.Live() {
		r := run(t, name, rec.Scenario)
		decided(t, r, "hold keep keep")
		if r.LostBatches != 0 || r.HeldBatches != 0 || r.Recovered != 2 || r.Calls != 3 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestWhenATurnBegan sets the beginning of a turn beside what is ruled on another session's turn.
func TestWhenATurnBegan(t *testing.T) {
	t.Parallel()
	limit := in("a", "", failed(1000, "limit"))
	for _, c := range []struct {
		name string
		evs  []Event
		want string
	}{
		{"it is not on record: when it ends", []Event{limit, in("b", "", said(5000, kept))}, "hold -"},
		{"a millisecond before the failure", []Event{limit, in("b", "", took(4001, said(5000, kept)))}, "hold keep"},
		{"at the instant of the failure", []Event{limit, in("b", "", took(4000, said(5000, kept)))}, "hold keep"},
		{"a millisecond after it", []Event{limit, in("b", "", took(3999, said(5000, kept)))}, "hold -"},
		{"before all", []Event{limit, in("b", "", took(9000, said(5000, kept)))}, "hold keep"},
		{"not before its own session's turn before", []Event{limit, in("a", "", took(4500, said(5000, kept)))}, "hold -"},
		{"its answer does not end the pause", []Event{
			limit, in("b", "", took(4500, said(5000, kept))), in("c", "", said(60_999, kept)), in("c", "", said(61_000, kept)),
		}, "hold keep - keep"},
		{"its failure does not double the pause", []Event{
			limit, in("b", "", took(4500, failed(5000, "limit"))), in("c", "", said(60_999, kept)), in("c", "", said(61_000, kept)),
		}, "hold hold - keep"},
		{"it ends after the pause, which stays", []Event{
			limit, in("c", "", failed(61_000, "limit")), in("b", "", took(70_000, said(70_001, kept))), in("c", "", said(180_999, kept)), in("c", "", said(181_000, kept)),
		}, "hold hold keep - keep"},
		{"two began before one event, the later one first", []Event{
			limit, in("b", "", took(4100, said(5000, kept))), in("c", "", took(5100, said(5000, kept))), in("d", "", said(5000, kept)),
		}, "hold keep keep -"},
		{"one began while the other's pause was over", []Event{
			limit, in("b", "", took(10, failed(61_010, "limit"))), in("c", "", took(20, said(61_030, kept))), in("d", "", took(10, said(61_030, kept))),
		}, "hold hold keep -"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			decided(t, run(t, policy.OTPHold, &Scenario{Events: c.evs}), c.want)
		})
	}
}

// TestAnOpeningAsksItsOwnProvider has one provider rest while a session of another one is given a new observer, at whose
// opening nothing else happens any more.
func TestAnOpeningAsksItsOwnProvider(t *testing.T) {
	t.Parallel()
	s := &Scenario{Respawn: Respawn{DelayMS: 1000}, EndMS: 10_000, Events: []Event{in("a", "one", failed(0, "limit"))}}
	for i := range 5 {
		s.Events = append(s.Events, in("b", "two", said(int64(i), "prose")))
	}
	r := run(t, policy.Supervised, s)
	decided(t, r, "hold drop drop drop drop respawn")
	if r.Calls != 7 {
		t.Errorf("%d calls, want 7: the opening is one", r.Calls)
	}
}
