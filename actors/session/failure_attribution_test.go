package session

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

func blamingClasses() []events.FailureClass {
	return []events.FailureClass{events.FailRefused, events.FailOverflow, events.FailTruncated}
}

// TestWhoAnswersNothingCostsNoInput: a provider that refuses, cuts or finds too long whatever it is asked says nothing of
// what it was asked. When it answers again, all of it is asked whole.
func TestWhoAnswersNothingCostsNoInput(t *testing.T) {
	t.Parallel()
	for _, class := range blamingClasses() {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			m := newSim(t, policy.ModelLimits())
			repeat(m, 20)
			m.stop()
			spared := 0
			for range 60 {
				m.must(m.fail(m.start(), class))
				if f, _ := lastOf[events.TurnFailed](m); f.Spared {
					spared++
				}
			}
			if got := m.state.Balance(); got.Pending != 21 || spared == 0 {
				t.Fatalf("after 60 failures: %+v, %d times spared; want all pending, and why on record", got, spared)
			}
			for n := 0; m.state.Owes(); n++ {
				if n > 100 {
					t.Fatalf("still owing: %+v", m.plan())
				}
				m.must(m.keep(m.start()))
			}
			if got := m.state.Balance(); got.Observed != 21 {
				t.Errorf("when it answers again: %+v, want all observed", got)
			}
		})
	}
}

// TestASparedInputIsAskedWholeAgain: it was not its length that nobody answered.
func TestASparedInputIsAskedWholeAgain(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	m.tool("a")
	m.stop()
	var cuts []int
	for range 7 {
		cuts = append(cuts, m.plan().Turn.Cuts)
		m.must(m.fail(m.start(), events.FailOverflow))
	}
	if d := cmp.Diff([]int{0, 1, 2, 0, 1, 2, 0}, cuts); d != "" {
		t.Errorf("cuts of its turns (-want +got):\n%s", d)
	}
}

// TestWhatTellsABadInput is an answer of the same provider behind its first failure, and nothing else.
func TestWhatTellsABadInput(t *testing.T) {
	t.Parallel()
	for _, class := range blamingClasses() {
		for name, c := range map[string]struct {
			by       [3]string // who fails it
			answered func(m *sim, first events.Position) events.Position
			dropped  int
		}{
			"nothing is known to be answered": {[3]string{"a", "a", "a"}, func(*sim, events.Position) events.Position { return 0 }, 0},
			"an answer before it failed":      {[3]string{"a", "a", "a"}, func(_ *sim, first events.Position) events.Position { return first - 1 }, 0},
			"an answer since":                 {[3]string{"a", "a", "a"}, func(_ *sim, first events.Position) events.Position { return first + 1 }, 1},
			"of who failed it last alone":     {[3]string{"a", "a", "b"}, func(_ *sim, first events.Position) events.Position { return first + 1 }, 0},
			"of who failed it since":          {[3]string{"a", "b", "b"}, func(m *sim, _ events.Position) events.Position { return m.last }, 1},
		} {
			t.Run(string(class)+", "+name, func(t *testing.T) {
				t.Parallel()
				m := newSim(t, policy.ModelLimits())
				m.tool("a")
				m.stop()
				var first events.Position
				for n, by := range c.by {
					f := m.fail(m.start(), class)
					f.Failed.Provider = by
					if n == len(c.by)-1 {
						f.Failed.Answered = c.answered(m, first)
					}
					m.must(f)
					if n == 0 {
						first = m.last
					}
				}
				if got := m.state.Balance(); got.Dropped != c.dropped {
					t.Errorf("%d dropped, want %d", got.Dropped, c.dropped)
				}
				if f, _ := lastOf[events.TurnFailed](m); f.Spared != (c.dropped == 0) {
					t.Errorf("spared: %t", f.Spared)
				}
			})
		}
	}
}

// TestWhatFailedByItsOwnFaultComesLast: later work is asked for first, its summary with it. The summary of the work that
// failed waits for it.
func TestWhatFailedByItsOwnFaultComesLast(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	m.tool("bad")
	m.stop()
	bad, itsStop := m.state.inputs[0].position, m.state.inputs[1].position
	m.must(m.fail(m.start(), events.FailRefused))
	m.tool("good")
	m.stop()
	var order [][]events.Position
	var blamed []bool
	for m.state.Owes() {
		w := m.plan().Turn
		order, blamed = append(order, w.Settles), append(blamed, w.Blamed)
		turn := m.start()
		if w.Settles[0] == bad && len(order) < 5 {
			m.must(m.fail(turn, events.FailRefused))
			continue
		}
		m.must(m.keep(turn))
	}
	good, stop := m.state.inputs[2].position, m.state.inputs[3].position
	want := [][]events.Position{{good}, {stop}, {bad}, {bad}, {itsStop}}
	if d := cmp.Diff(want, order); d != "" {
		t.Errorf("order (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]bool{false, false, true, true, false}, blamed); d != "" {
		t.Errorf("blamed (-want +got):\n%s", d)
	}
}

// TestTheOtherHalfWaitsForOneTurn: of a batch that was halved, the half that failed again lets the other one go first.
func TestTheOtherHalfWaitsForOneTurn(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	repeat(m, 4)
	m.stop()
	for range 3 {
		m.must(m.fail(m.start(), events.FailRefused))
	}
	first, other := m.state.inputs[0].position, m.state.inputs[2].position
	var asked []events.Position
	for range 3 {
		w := m.plan().Turn
		asked = append(asked, w.Settles[0])
		if turn := m.start(); w.Settles[0] == first {
			m.must(m.fail(turn, events.FailRefused))
		} else {
			m.must(m.keep(turn))
		}
	}
	if d := cmp.Diff([]events.Position{first, other, first}, asked); d != "" {
		t.Errorf("halves (-want +got):\n%s", d)
	}
}
