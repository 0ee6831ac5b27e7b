package session

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// doTogether decides several commands, each on what those before it left, and appends them as one, as an actor that
// drains its queue does. It returns their refusals.
func (m *sim) doTogether(cmds ...Command) []error {
	m.tb.Helper()
	var all []events.Draft
	errs := make([]error, len(cmds))
	for i, c := range cmds {
		drafts, err := Decide(m.state, m.rules, c)
		if errs[i] = err; err == nil {
			Apply(m.state, drafts)
			all = append(all, drafts...)
		}
	}
	m.state.Place(m.append(all))
	m.check()
	return errs
}

func (m *sim) tools(n int) []Command {
	var cmds []Command
	for range n {
		cmds = append(cmds, m.capture(events.ToolUsed{Tool: "Read"}))
	}
	return cmds
}

// TestCommandsBehindCapturesOfTheirBatch: captures that have no position yet must not hide inputs that have one.
func TestCommandsBehindCapturesOfTheirBatch(t *testing.T) {
	t.Parallel()
	t.Run("a failure that drops", func(t *testing.T) {
		t.Parallel()
		m := newSim(t, policy.ModelLimits())
		m.tool("a")
		m.stop()
		m.must(m.fail(m.start(), events.FailRefused))
		m.tool("b")
		m.stop()
		m.must(m.keep(m.start()))
		m.must(m.keep(m.start()))
		m.must(m.fail(m.start(), events.FailRefused))
		turn := m.start()
		m.doTogether(append(m.tools(4), m.fail(turn, events.FailRefused))...)
		if got := m.state.Balance(); got.Dropped != 1 || got.Observed != 2 || got.Pending != 5 {
			t.Errorf("got %+v, want the refused input dropped and five pending", got)
		}
	})
	t.Run("a wish to observe again", func(t *testing.T) {
		t.Parallel()
		m := newSim(t, policy.ModelLimits())
		m.tool("a")
		m.stop()
		m.must(m.drop(m.start(), events.ReasonNoXML))
		again := Reobserve{ID: m.id(), At: m.now, Inputs: []events.Position{m.state.inputs[0].position}}
		if errs := m.doTogether(append(m.tools(3), again)...); errs[3] != nil {
			t.Errorf("refused: %v", errs[3])
		}
	})
	t.Run("a turn in a burst", func(t *testing.T) {
		t.Parallel()
		m := newSim(t, policy.ModelLimits())
		repeat(m, 20)
		begin := StartTurn{Turn: m.id(), At: m.now, Work: *m.plan().Turn, Provider: "test"}
		if errs := m.doTogether(append(m.tools(64), begin)...); errs[64] != nil {
			t.Errorf("refused: %v", errs[64])
		}
	})
}

// TestBatchesEqualSingles decides random commands in random groups: whatever the grouping, live equals folded.
func TestBatchesEqualSingles(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := newSim(t, policy.BatchLimits{MaxInputs: 3})
		m.tb = tb{t, rt}
		m.randomRules(rt)
		for range rapid.IntRange(1, 25).Draw(rt, "groups") {
			m.now = m.now.Add(rapid.SampledFrom([]time.Duration{0, time.Second, time.Hour}).Draw(rt, "later"))
			var cmds []Command
			for range rapid.IntRange(1, 5).Draw(rt, "size") {
				cmds = append(cmds, m.randomCommand(rt))
			}
			for i, err := range m.doTogether(cmds...) {
				if err != nil && !errors.Is(err, ErrNoTurn) && !errors.Is(err, ErrTurnInFlight) && !errors.Is(err, ErrNotDue) &&
					!errors.Is(err, ErrNoInputs) && !errors.Is(err, ErrNotQuarantined) {
					rt.Fatalf("%s: %v", cmds[i].Name(), err)
				}
			}
		}
		m.settleEverything()
	})
}

func (m *sim) randomCommand(rt *rapid.T) Command {
	turn, flying := m.state.InFlight()
	plan := m.plan()
	choice := rapid.IntRange(0, 10).Draw(rt, "command")
	switch {
	case choice == 0 && plan.Turn != nil:
		return StartTurn{Turn: m.id(), At: m.now, Work: *plan.Turn, Provider: "test"}
	case choice <= 3 && flying:
		return rapid.SampledFrom([]Command{
			m.keep(turn), m.drop(turn, events.ReasonMissingSummary), m.skip(turn, events.ReasonEmpty),
			m.fail(turn, events.FailCrash), m.fail(turn, events.FailRefused), m.fail(turn, events.FailServer),
		}).Draw(rt, "end")
	case choice == 4:
		return m.capture(events.AgentStopped{Cause: events.StopDone})
	case choice == 5:
		return Tick{ID: m.id(), At: m.now}
	case choice == 6:
		return Release{ID: m.id(), At: m.now}
	case choice == 7 && len(m.state.inputs) > 0:
		i := rapid.IntRange(0, len(m.state.inputs)-1).Draw(rt, "again")
		return Reobserve{ID: m.id(), At: m.now, Inputs: []events.Position{m.state.inputs[i].position}}
	}
	if choice == 8 {
		return m.randomExpire(rt)
	}
	return m.capture(events.ToolUsed{Tool: "Read"})
}

func TestAnErasedVerdictKeepsItsOutcome(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	m.tool("a")
	m.stop()
	m.must(m.drop(m.start(), events.ReasonNoXML))
	m.must(m.skip(m.start(), events.ReasonSkipSummary))
	for i, r := range m.records {
		if r.Kind == events.KindOutputDropped || r.Kind == events.KindOutputSkipped {
			m.records[i] = r.Erase()
		}
	}
	if got, want := m.fold().Balance(), m.state.Balance(); got != want {
		t.Errorf("with the verdicts' payloads erased: got %+v, want %+v", got, want)
	}
}

func TestAClockThatIsSetBackKeepsNothingBack(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	repeat(m, 20)
	m.now = m.now.Add(365 * 24 * time.Hour)
	m.crash()
	m.now = start.Add(time.Minute)
	if m.plan().Turn == nil {
		t.Errorf("a restart's delay that was recorded a year ahead keeps turns back: %+v", m.plan())
	}
	m.now = start.Add(365 * 24 * time.Hour)
	for range 5 {
		m.crash()
	}
	m.now = start.Add(time.Minute)
	if m.plan().Turn == nil {
		t.Errorf("a quarantine that was recorded a year ahead keeps turns back: %+v", m.plan())
	}
}

func TestAPoisonedInputCostsMinutesWhereverItIs(t *testing.T) {
	t.Parallel()
	for _, at := range []int{0, 7, 13, 19} {
		m := newSim(t, policy.ModelLimits())
		m.plain = true
		repeat(m, 20)
		m.settleAllBut(m.state.inputs[at].position, events.FailCrash)
		if took := m.now.Sub(start); took > 30*time.Minute {
			t.Errorf("the bad input at %d of 20 kept the others waiting for %v", at, took)
		}
		if got := m.state.Balance(); got.Observed != 19 || got.Dropped != 1 {
			t.Errorf("the bad input at %d of 20: %+v", at, got)
		}
	}
}
