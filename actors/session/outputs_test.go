package session

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

func supervised(t *testing.T) *sim {
	m := newSim(t, policy.BatchLimits{MaxInputs: 1})
	m.rules.Outputs = &policy.Unparseable{}
	return m
}

// prose lets the provider answer the next turn with something that does not parse, after d.
func (m *sim) prose(d time.Duration) events.ID {
	m.tb.Helper()
	m.now = m.now.Add(d)
	m.tool("a")
	turn := m.start()
	m.must(m.drop(turn, events.ReasonNoXML))
	return turn
}

func (m *sim) respawns() []events.SessionRespawned {
	var rs []events.SessionRespawned
	for _, e := range m.log {
		if r, ok := e.(events.SessionRespawned); ok {
			rs = append(rs, r)
		}
	}
	return rs
}

func TestFiveUnparseableOutputsEarnAFreshGeneration(t *testing.T) {
	t.Parallel()
	m := supervised(t)
	for range 4 {
		m.prose(15 * time.Second)
	}
	if n := len(m.respawns()); n != 0 {
		t.Fatalf("four outputs: %d respawns, want none", n)
	}
	turn := m.prose(15 * time.Second) // the first is now exactly a minute old
	want := []events.SessionRespawned{{
		From: 0, To: 1, Cause: CauseUnparseable, Limits: events.Limits{Window: time.Minute, Unparseable: 5, Every: 10 * time.Minute},
		Counted: events.Counted{Unparseable: 5},
	}}
	if d := cmp.Diff(want, m.respawns()); d != "" {
		t.Fatalf("respawns (-want +got):\n%s", d)
	}
	last := m.records[len(m.records)-1]
	if last.Correlation != turn || last.Kind != events.KindSessionRespawned {
		t.Errorf("the stream ends in a %s of turn %v, want the respawn of turn %v", last.Kind, last.Correlation, turn)
	}
	if len(m.state.restarts) != 0 || m.state.consecutive != 0 || !m.state.resume.IsZero() {
		t.Error("a fresh generation was counted as a crash")
	}
}

func TestTheWindowAndTheIntervalOfFreshGenerationsAreClosed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		late time.Duration // of the fifth output, and then of the next five
		want []int         // generations after each
	}{
		{"exactly", 0, []int{1, 2}},
		{"a millisecond late", time.Millisecond, []int{0, 0}},
		{"a millisecond early", -time.Millisecond, []int{1, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := supervised(t)
			first := m.now
			for range 4 {
				m.prose(0)
			}
			m.now = first.Add(time.Minute + c.late)
			m.prose(0)
			got := []int{m.state.Generation()}
			if got[0] == 0 { // the window: too late for the first four
				if d := cmp.Diff(c.want, append(got, m.state.Generation())); d != "" {
					t.Errorf("generations (-want +got):\n%s", d)
				}
				return
			}
			respawned := m.now
			m.settleOwed()
			m.now = respawned.Add(10*time.Minute + c.late - 30*time.Second)
			for range 4 {
				m.prose(0)
			}
			m.now = respawned.Add(10*time.Minute + c.late)
			m.prose(0)
			if d := cmp.Diff(c.want, append(got, m.state.Generation())); d != "" {
				t.Errorf("generations (-want +got):\n%s", d)
			}
		})
	}
}

// settleOwed lets the provider skip all that is due.
func (m *sim) settleOwed() {
	m.tb.Helper()
	for m.plan().Turn != nil {
		m.must(m.skip(m.start(), events.ReasonSkipSummary))
	}
}

func TestWhatEarnsNoFreshGeneration(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rules func(r *Rules)
		do    func(m *sim)
	}{
		"the standard policy":                {func(r *Rules) { r.Outputs = nil }, func(m *sim) { m.prose(0) }},
		"a provider that would say it again": {func(r *Rules) { r.Batch.Fixed = true }, func(m *sim) { m.prose(0) }},
		"blank answers":                      {nil, func(m *sim) { m.tool("a"); m.must(m.skip(m.start(), events.ReasonEmpty)) }},
		"blank answers to a summary": {nil, func(m *sim) {
			m.tool("a")
			m.must(m.keep(m.start()))
			m.stop()
			a := m.drop(m.start(), events.ReasonMissingSummary)
			a.Dropped.Class = "idle"
			m.must(a)
			m.settleOwed()
		}},
		"four, and then one that is kept": {nil, func(m *sim) {
			for range 4 {
				m.prose(0)
			}
			m.tool("a")
			m.must(m.keep(m.start()))
		}},
		"four, and then a skip in so many words": {nil, func(m *sim) {
			for range 4 {
				m.prose(0)
			}
			m.tool("a")
			m.must(m.skip(m.start(), events.ReasonSkipSummary))
		}},
		"failures of the provider": {nil, func(m *sim) { m.tool("a"); m.must(m.fail(m.start(), events.FailLimit)) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := supervised(t)
			if c.rules != nil {
				c.rules(&m.rules)
			}
			for range 12 {
				c.do(m)
			}
			if n := len(m.respawns()); n != 0 || m.state.Generation() != 0 {
				t.Errorf("%d respawns, generation %d; want none", n, m.state.Generation())
			}
		})
	}
}

func TestABlankAnswerIsNotTheFifth(t *testing.T) {
	t.Parallel()
	m := supervised(t)
	for range 4 {
		m.prose(0)
	}
	m.stop()
	a := m.drop(m.start(), events.ReasonMissingSummary)
	a.Dropped.Class = "idle"
	m.must(a)
	if n := len(m.respawns()); n != 0 {
		t.Errorf("%d respawns after four outputs and a blank one, want none", n)
	}
}

func TestBlankAnswersAreNotTheFirstFour(t *testing.T) {
	t.Parallel()
	m := supervised(t)
	for range 4 {
		m.tool("a")
		m.must(m.skip(m.start(), events.ReasonEmpty))
		m.stop()
		for m.plan().Turn != nil {
			a := m.drop(m.start(), events.ReasonMissingSummary)
			a.Dropped.Class = "idle"
			m.must(a)
		}
	}
	m.prose(0)
	if n := len(m.respawns()); n != 0 {
		t.Errorf("%d respawns after eight blank outputs and one that is not, want none", n)
	}
}

// TestACrashForgivesNoOutput: neither a restart nor a quarantine clears what was counted. A parsed output does, and the
// fresh generation that it earned.
func TestACrashForgivesNoOutput(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]func(m *sim){
		"a restart": func(m *sim) {
			m.tool("a")
			m.crash()
			m.await()
			m.must(m.drop(m.start(), events.ReasonNoXML))
		},
		"a quarantine and its probe": func(m *sim) {
			m.rules.Restarts = policy.Restarts{MaxConsecutive: 1}
			m.rules.Quarantine = policy.Backoff{First: time.Second, Cap: time.Second}
			m.tool("a")
			m.crash()
			m.crash()
			m.await()
			m.must(m.drop(m.start(), events.ReasonNoXML)) // it is answered, however badly
		},
		"a person's release": func(m *sim) {
			m.rules.Restarts = policy.Restarts{MaxConsecutive: 1}
			m.tool("a")
			m.crash()
			m.crash()
			m.must(Release{ID: m.id(), At: m.now})
			m.must(m.drop(m.start(), events.ReasonNoXML))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := supervised(t)
			for range 4 {
				m.prose(0)
			}
			trouble(m)
			r := m.respawns()
			if last := r[len(r)-1]; last.Cause != CauseUnparseable || last.Counted.Unparseable != 5 {
				t.Errorf("got %+v last, want a fresh generation for the fifth output", last)
			}
		})
	}
}

func TestAFreshGenerationIsToldNothingUntilItKeeps(t *testing.T) {
	t.Parallel()
	m := supervised(t)
	m.tool("a")
	m.must(m.keep(m.start()))
	var dropped events.Position
	for range 5 {
		m.tool("b")
		dropped = m.plan().Turn.Settles[0]
		if w := m.plan().Turn; w.Fresh || len(w.Brief) != 1 {
			t.Fatalf("got %+v, want one observation told", w)
		}
		m.must(m.drop(m.start(), events.ReasonNoXML))
	}
	w := m.plan().Turn
	if w == nil || len(w.Settles) != 1 || w.Settles[0] != dropped || w.Attempt != 2 || !w.Fresh || len(w.Brief) != 1 {
		t.Fatalf("got %+v, want input %d once more, with nothing told", w, dropped)
	}
	m.must(m.skip(m.start(), events.ReasonSkipSummary))
	m.tool("c")
	if w := m.plan().Turn; !w.Fresh {
		t.Errorf("after a skip: got %+v, want nothing told until something is kept", w)
	}
	m.must(m.keep(m.start()))
	m.tool("d")
	if w := m.plan().Turn; w.Fresh || len(w.Brief) != 2 {
		t.Errorf("after something was kept: got %+v, want two observations told", w)
	}
}

func TestTheBatchThatEarnedAFreshGenerationIsAskedOnceMoreOnly(t *testing.T) {
	t.Parallel()
	m := supervised(t)
	m.rules.Outputs = &policy.Unparseable{Max: 1, Every: time.Nanosecond}
	m.prose(time.Second)
	m.now = m.now.Add(time.Second)
	m.must(m.drop(m.start(), events.ReasonNoXML)) // the fresh one fails as well, and is replaced too
	if got := m.state.Generation(); got != 2 {
		t.Errorf("generation %d, want 2", got)
	}
	if p := m.plan(); p.Turn != nil {
		t.Errorf("%+v is due, want the batch given up", p.Turn)
	}
	if b := m.state.Balance(); b.Dropped != 1 || b.Captured != 1 {
		t.Errorf("got %+v, want it dropped and counted once", b)
	}
}

func TestARestartOfTheDaemonGrantsNoFreshGeneration(t *testing.T) {
	t.Parallel()
	m := supervised(t)
	for range 12 {
		m.prose(time.Second)
		m.settleOwed()
		m.state = m.fold()
	}
	if got := m.state.Generation(); got != 1 {
		t.Errorf("generation %d after twelve outputs over as many daemons, want 1: once in ten minutes", got)
	}
}

// TestAMaxBeyondWhatIsRememberedIsNeverReached: one more than is remembered still is, with the output at hand.
func TestAMaxBeyondWhatIsRememberedIsNeverReached(t *testing.T) {
	t.Parallel()
	for most, want := range map[int]int{maxUnparsed + 1: 1, maxUnparsed + 2: 0} {
		m := supervised(t)
		m.plain = true
		m.rules.Outputs = &policy.Unparseable{Max: most}
		for range maxUnparsed + 10 {
			m.prose(0)
		}
		if got := len(m.respawns()); got != want {
			t.Errorf("a max of %d: %d respawns, want %d", most, got, want)
		}
	}
}

// TestAFreshGenerationOwesOnlyWhatItsOwnTurnWasAskedAbout: an event that no decision of today's makes brings nothing back.
func TestAFreshGenerationOwesOnlyWhatItsOwnTurnWasAskedAbout(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]func(turn events.ID) events.ID{
		"its own turn":     func(turn events.ID) events.ID { return turn },
		"another turn":     func(events.ID) events.ID { return events.ID{9} },
		"no turn":          func(events.ID) events.ID { return events.ID{} },
		"a turn that fled": nil,
	} {
		m := supervised(t)
		m.plain = true
		respawn := func(turn events.ID) {
			d := newDecision(m.id(), m.now).add(events.SessionRespawned{To: 1, Cause: CauseUnparseable}).correlate(turn).drafts
			Apply(m.state, d)
			m.state.Place(m.append(d))
		}
		if of == nil { // before any turn ended
			m.tool("a")
			respawn(m.start())
		} else {
			respawn(of(m.prose(0)))
		}
		if got, want := m.state.Owes(), name == "its own turn" || of == nil; got != want || m.state.Generation() != 1 {
			t.Errorf("%s: owes %v in generation %d, want %v, 1", name, got, m.state.Generation(), want)
		}
	}
}

func TestAFreshGenerationBeginsTheCountAnew(t *testing.T) {
	t.Parallel()
	m := supervised(t)
	m.rules.Outputs = &policy.Unparseable{Max: 3, Every: time.Nanosecond}
	for range 3 {
		m.prose(time.Second)
	}
	m.now = m.now.Add(time.Second)
	m.must(m.drop(m.start(), events.ReasonNoXML)) // what earned it, asked once more
	m.prose(time.Second)
	if got := m.state.Generation(); got != 1 {
		t.Errorf("generation %d after two outputs of the fresh one, want 1", got)
	}
	m.prose(time.Second)
	if got := m.state.Generation(); got != 2 {
		t.Errorf("generation %d after three, want 2", got)
	}
}
