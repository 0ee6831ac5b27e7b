package session

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

const day = 24 * time.Hour

func holding(t *testing.T, inputs int) *sim {
	m := newSim(t, policy.BatchLimits{MaxInputs: 1})
	m.plain = true
	m.rules.HeldMaxInputs = 100
	repeat(m, inputs)
	return m
}

// expire decides Expire for a pause that began at since, and returns what was given up.
func (m *sim) expire(since time.Time) []events.InputsDropped {
	m.tb.Helper()
	n := len(m.log)
	m.must(Expire{ID: m.id(), At: m.now, Held: since})
	var ds []events.InputsDropped
	for _, e := range m.log[n:] {
		ds = append(ds, e.(events.InputsDropped))
	}
	return ds
}

func (m *sim) positionsOf(from, to int) []events.Position {
	var is []int
	for i := from; i < to; i++ {
		is = append(is, i)
	}
	return m.state.positions(is)
}

func TestOnlyHeldWorkIsBounded(t *testing.T) {
	t.Parallel()
	m := holding(t, 300)
	m.now = m.now.Add(365 * day)
	if due, next := Overdue(m.state, m.rules, time.Time{}, m.now); due || !next.IsZero() {
		t.Errorf("a long old backlog that nothing holds: %v, %v; want it left alone", due, next)
	}
	if got := m.expire(time.Time{}); got != nil {
		t.Errorf("given up without a hold: %+v", got)
	}
	turn := m.start()
	if due, _ := Overdue(m.state, m.rules, start, m.now); due || m.expire(start) != nil {
		t.Error("given up while a turn is in flight: its provider lets it try")
	}
	m.must(m.keep(turn))
	if due, _ := Overdue(m.state, m.rules, start, m.now); !due {
		t.Error("held for a year, nothing is overdue")
	}
}

func TestTheOldestOfTooManyAreGivenUp(t *testing.T) {
	t.Parallel()
	m := holding(t, 100)
	if due, next := Overdue(m.state, m.rules, start, m.now); due || next != start.Add(14*day) {
		t.Errorf("exactly as many as allowed: %v, %v; want none before the age", due, next)
	}
	repeat(m, 7)
	if due, _ := Overdue(m.state, m.rules, start, m.now); !due {
		t.Error("seven too many are not overdue")
	}
	want := []events.InputsDropped{{Inputs: m.positionsOf(0, 7), Reason: events.DropCrowded}}
	if d := cmp.Diff(want, m.expire(start)); d != "" {
		t.Errorf("given up (-want +got):\n%s", d)
	}
	if b := m.state.Balance(); b.Dropped != 7 || b.Pending != 100 || b.Captured != 107 {
		t.Errorf("got %+v, want seven dropped and counted", b)
	}
	m.must(Reobserve{ID: m.id(), At: m.now, Inputs: want[0].Inputs})
	if w := m.plan().Turn; w == nil || w.Settles[0] != want[0].Inputs[0] {
		t.Errorf("got %+v, want what was given up asked again", w)
	}
}

func TestAgeIsTimeHeld(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		now  time.Duration // after the first two were recorded; two more are a day later, the hold begins after two
		want int           // inputs given up
		next time.Duration
	}{
		{"a moment before", 16*day - 1, 0, 16 * day},
		{"to the moment", 16 * day, 4, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := holding(t, 2)
			m.now = start.Add(day)
			repeat(m, 2)
			began := start.Add(2 * day)
			m.now = start.Add(3 * day)
			repeat(m, 3) // captured while it is held: they have a day more
			m.now = start.Add(c.now)
			due, next := Overdue(m.state, m.rules, began, m.now)
			if due != (c.want > 0) || !due && next != start.Add(c.next) {
				t.Errorf("overdue: %v, %v; want %v, %v", due, next.Sub(start), c.want > 0, c.next)
			}
			got := m.expire(began)
			if c.want == 0 {
				if got != nil {
					t.Errorf("given up: %+v, want nothing", got)
				}
				return
			}
			want := []events.InputsDropped{{Inputs: m.positionsOf(0, c.want), Reason: events.DropExpired}}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("given up (-want +got):\n%s", d)
			}
			if due, next := Overdue(m.state, m.rules, began, m.now); due || next != start.Add(17*day) {
				t.Errorf("then: %v, %v; want the others a day later", due, next.Sub(start))
			}
		})
	}
}

func TestWhatWasAskedAgainIsYoung(t *testing.T) {
	t.Parallel()
	m := holding(t, 1)
	m.must(m.drop(m.start(), events.ReasonNoXML))
	m.now = start.Add(300 * day)
	m.must(Reobserve{ID: m.id(), At: m.now, Inputs: m.positionsOf(0, 1)})
	if due, next := Overdue(m.state, m.rules, start, m.now.Add(day)); due || next != m.now.Add(14*day) {
		t.Errorf("asked again in a long hold: %v, %v; want it held for as long as any", due, next)
	}
	if got := m.expire(start); got != nil {
		t.Errorf("given up: %+v, want nothing", got)
	}
	if d := cmp.Diff(m.fold().owed, m.state.owed); d != "" {
		t.Errorf("a fold owes something else:\n%s", d)
	}
}

func TestAgeAndNumberTogether(t *testing.T) {
	t.Parallel()
	m := holding(t, 10)
	m.now = start.Add(day)
	repeat(m, 105)
	m.now = start.Add(14 * day)
	want := []events.InputsDropped{
		{Inputs: m.positionsOf(0, 10), Reason: events.DropExpired}, {Inputs: m.positionsOf(10, 15), Reason: events.DropCrowded},
	}
	if d := cmp.Diff(want, m.expire(start)); d != "" {
		t.Errorf("given up (-want +got):\n%s", d)
	}
}

func TestAQuarantineHoldsUntilItsProbeIsDue(t *testing.T) {
	t.Parallel()
	m := holding(t, 20)
	m.rules.Restarts = policy.Restarts{MaxConsecutive: 1}
	m.rules.HeldMaxAge = time.Hour
	for range 2 {
		m.crash()
	}
	began := m.now
	_, until, ok := m.state.Quarantined()
	if !ok {
		t.Fatal("no quarantine")
	}
	if _, next := Overdue(m.state, m.rules, time.Time{}, m.now); next != began.Add(time.Hour) {
		t.Errorf("overdue at %v, want an hour after the first quarantine", next)
	}
	for name, paused := range map[string]time.Time{"before": began.Add(-time.Minute), "after": began.Add(time.Minute)} {
		want := began.Add(time.Hour)
		if paused.Before(began) {
			want = paused.Add(time.Hour)
		}
		if _, next := Overdue(m.state, m.rules, paused, m.now); next != want {
			t.Errorf("paused a minute %s the quarantine: overdue at %v, want an hour after the first of them", name, next)
		}
	}
	m.now = began.Add(30 * day) // the daemon was off
	if due, next := Overdue(m.state, m.rules, time.Time{}, m.now); due || !next.IsZero() || m.expire(time.Time{}) != nil {
		t.Errorf("before the probe: %v, %v; want it tried first", due, next)
	}
	if !m.now.After(until) || m.plan().Turn == nil || !m.plan().Turn.Probe {
		t.Fatal("no probe is due")
	}
	m.crash()
	if due, _ := Overdue(m.state, m.rules, time.Time{}, m.now); !due {
		t.Error("the probe crashed: what was held for a month is overdue")
	}
	if got := m.expire(time.Time{}); len(got) != 1 || len(got[0].Inputs) != 20 || got[0].Reason != events.DropExpired {
		t.Errorf("got %+v, want all twenty expired", got)
	}
}

// TestOneDecisionNamesABoundedNumber gives up more than one event may name, beside inputs of the same append.
func TestOneDecisionNamesABoundedNumber(t *testing.T) {
	t.Parallel()
	m := holding(t, 0)
	for range 130 {
		m.doTogether(m.tools(100)...)
	}
	for _, want := range []int{maxGivenUp, 13_004 - maxGivenUp - 100} {
		m.doTogether(append(m.tools(2), Expire{ID: m.id(), At: m.now, Held: start})...)
		d, _ := lastOf[events.InputsDropped](m)
		if len(d.Inputs) != want || d.Inputs[0] == 0 || d.Inputs[want-1] == 0 {
			t.Errorf("%d inputs in one event, want %d that have a position", len(d.Inputs), want)
		}
	}
	if len(m.state.owed) != 100 {
		t.Errorf("%d still held, want 100", len(m.state.owed))
	}
}

// TestWhatAPersonAskedForIsNotCrowdedOut asks again, during a hold, for inputs that were dropped, more than may be held.
func TestWhatAPersonAskedForIsNotCrowdedOut(t *testing.T) {
	t.Parallel()
	m := holding(t, 150)
	for _, e := range m.expire(start) {
		m.must(Reobserve{ID: m.id(), At: m.now, Inputs: e.Inputs})
	}
	if got := m.state.Balance(); got.Dropped != 50 || got.Pending != 100 {
		t.Fatalf("got %+v, want fifty crowded out", got)
	}
	if due, _ := Overdue(m.state, m.rules, start, m.now); due || m.expire(start) != nil {
		t.Error("what was asked for again is given up at once")
	}
	if got := len(m.state.owed); got != 150 {
		t.Errorf("%d inputs are owed, want all 150", got)
	}
	m.tool("one more")
	if got := m.expire(start); len(got) != 1 || len(got[0].Inputs) != 1 || got[0].Inputs[0] != m.state.inputs[50].position {
		t.Errorf("got %+v, want the oldest that nobody asked for given up", got)
	}
}
