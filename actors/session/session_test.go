package session

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

func TestCaptureDecides(t *testing.T) {
	t.Parallel()
	const (
		opened, prompt, tool, stopped, compacted, closed = events.KindSessionOpened, events.KindPromptSubmitted, events.KindToolUsed,
			events.KindAgentStopped, events.KindContextCompacted, events.KindSessionClosed
	)
	for _, c := range []struct {
		name  string
		given []events.Event
		want  []events.Kind
	}{
		{"first sight opens", []events.Event{events.ToolUsed{}}, []events.Kind{opened, tool}},
		{"an opening opens once", []events.Event{events.SessionOpened{}, events.ToolUsed{}}, []events.Kind{opened, tool}},
		{"a compaction in the middle of work stops it first", []events.Event{events.ToolUsed{}, events.ContextCompacted{}},
			[]events.Kind{opened, tool, stopped, compacted}},
		{"a compaction after a stop stands alone", []events.Event{events.ToolUsed{}, events.AgentStopped{}, events.ContextCompacted{}},
			[]events.Kind{opened, tool, stopped, compacted}},
		{"an end in the middle of work stops it first", []events.Event{events.ToolUsed{}, events.SessionClosed{}},
			[]events.Kind{opened, tool, stopped, closed}},
		{"a second end says nothing", []events.Event{events.PromptSubmitted{}, events.SessionClosed{}, events.SessionClosed{}},
			[]events.Kind{opened, prompt, closed}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := newSim(t, policy.ModelLimits())
			for _, e := range c.given {
				m.must(m.capture(e))
			}
			if d := cmp.Diff(c.want, m.kinds()); d != "" {
				t.Errorf("events (-want +got):\n%s", d)
			}
		})
	}
}

// TestALaterReportSaysWhere a session is of which nothing was known at first sight. An end says nothing, and no place gives way to
// another, or to none.
func TestALaterReportSaysWhere(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	for _, c := range []struct {
		event events.Event
		cwd   string
	}{
		{events.ToolUsed{}, ""}, {events.AgentStopped{}, ""}, {events.SessionClosed{}, ""}, {events.SessionClosed{}, "/a"}, {events.ToolUsed{}, "/a"},
		{events.ToolUsed{}, ""}, {events.ToolUsed{}, "/b"},
	} {
		capture := m.capture(c.event)
		capture.Origin.Cwd, capture.Origin.Project = c.cwd, ""
		m.must(capture)
	}
	want := []events.Kind{
		events.KindSessionOpened, events.KindToolUsed, events.KindAgentStopped, events.KindSessionClosed,
		events.KindSessionOpened, events.KindToolUsed, events.KindToolUsed, events.KindToolUsed,
	}
	if d := cmp.Diff(want, m.kinds()); d != "" || m.state.Origin().Cwd != "/a" {
		t.Errorf("in %q, events (-want +got):\n%s", m.state.Origin().Cwd, d)
	}
}

func TestDuplicateChangesNothing(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	c := m.capture(events.ToolUsed{Tool: "Read"})
	c.Key = events.KeyOf("s1", "toolu_1")
	m.must(c)
	n := len(m.log)
	c.ID = m.id()
	m.must(c)
	if len(m.log) != n {
		t.Errorf("a repeated key appended %v", m.kinds()[n:])
	}
}

func TestCaptureRefusesWhatNoAgentReports(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	if err := m.do(m.capture(events.TurnReceived{})); !errors.Is(err, ErrNotCapture) {
		t.Errorf("got %v, want ErrNotCapture", err)
	}
}

func TestPromptsAreNumberedAndPrivacyReachesTheTools(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	m.must(m.capture(events.PromptSubmitted{Text: "one"}))
	m.tool("Read")
	m.must(m.capture(events.PromptSubmitted{Private: true}))
	m.must(m.capture(events.ToolUsed{Tool: "Bash", Input: "secret", Output: "secret"}))
	private, _ := lastOf[events.ToolUsed](m)
	if private.Unobserved != "private" || private.Input+private.Output != "" || private.Prompt != 2 {
		t.Errorf("a tool use of a private prompt: got %+v", private)
	}
	if got := m.state.Balance().Captured; got != 1 {
		t.Errorf("inputs: got %d, want 1: the private one is none", got)
	}
	m.must(m.capture(events.AgentStopped{LastMessage: "the private answer"}))
	if s, _ := lastOf[events.AgentStopped](m); s.LastMessage != "" || s.Work != 1 {
		t.Errorf("the answer to a private prompt: got %+v, want no message", s)
	}
	m.must(m.capture(events.PromptSubmitted{Text: "three"}))
	m.tool("Read")
	if got := m.state.Balance().Captured; got != 3 { // the two public tools, and the stop of the first's work
		t.Errorf("inputs after a public prompt: got %d, want 3", got)
	}
}

func TestWhenATurnIsDue(t *testing.T) {
	t.Parallel()
	model, extractor := policy.ModelLimits(), policy.ExtractorLimits()
	for _, c := range []struct {
		name   string
		limits policy.BatchLimits
		do     func(m *sim)
		kind   events.TurnKind // empty: none is due
		n      int
		reads  int
		next   time.Duration
	}{
		{"one input waits for company", model, func(m *sim) { m.tool("a") }, "", 0, 0, 5 * time.Minute},
		{"nineteen wait", model, func(m *sim) { repeat(m, 19) }, "", 0, 0, 5 * time.Minute},
		{"twenty go", model, func(m *sim) { repeat(m, 20) }, events.TurnObservation, 20, 0, 0},
		{"twenty-five go as twenty", model, func(m *sim) { repeat(m, 25) }, events.TurnObservation, 20, 0, 0},
		{"one goes at five minutes", model, func(m *sim) { m.tool("a"); m.now = m.now.Add(5 * time.Minute) }, events.TurnObservation, 1, 0, 0},
		{"and not a moment before", model, func(m *sim) { m.tool("a"); m.now = m.now.Add(5*time.Minute - 1) }, "", 0, 0, 1},
		{"48 KiB go", model, func(m *sim) { m.big(40 << 10); m.big(10 << 10) }, events.TurnObservation, 1, 0, 0},
		{"a stop lets all go", model, func(m *sim) { repeat(m, 3); m.stop() }, events.TurnObservation, 3, 1, 0},
		{"the extractor waits for a stop", extractor, func(m *sim) { repeat(m, 499) }, "", 0, 0, 30 * time.Minute},
		{"or for very much", extractor, func(m *sim) { repeat(m, 500) }, events.TurnObservation, 500, 0, 0},
		{"a turn ends at a stop", extractor, func(m *sim) { repeat(m, 3); m.stop(); repeat(m, 4); m.stop() }, events.TurnObservation, 3, 1, 0},
		{"a compaction goes at once", extractor, func(m *sim) { m.must(m.capture(events.ContextCompacted{})) }, events.TurnObservation, 1, 0, 0},
		{"a close lets all go", model, func(m *sim) { m.tool("a"); m.must(m.capture(events.SessionClosed{})) }, events.TurnObservation, 1, 1, 0},
		{"a stop without work owes nothing", model, func(m *sim) { m.stop() }, "", 0, 0, 24 * time.Hour},
		{"a summary follows the observation", model, func(m *sim) { m.tool("a"); m.stop(); m.must(m.keep(m.start())) }, events.TurnSummary, 1, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := newSim(t, c.limits)
			m.plain = true
			c.do(m)
			p := m.plan()
			if c.kind == "" {
				if p.Turn != nil {
					t.Fatalf("due: %+v, want nothing", *p.Turn)
				}
				if got := p.Next.Sub(m.now); got != c.next {
					t.Errorf("asks again in %v, want %v", got, c.next)
				}
				return
			}
			if p.Turn == nil {
				t.Fatalf("nothing is due, want a turn: %+v", p)
			}
			if p.Turn.Kind != c.kind || len(p.Turn.Settles) != c.n || len(p.Turn.Reads)+len(p.Turn.Offers) != c.reads {
				t.Errorf("got a %s turn that settles %d and reads %d, want %s, %d, %d",
					p.Turn.Kind, len(p.Turn.Settles), len(p.Turn.Reads)+len(p.Turn.Offers), c.kind, c.n, c.reads)
			}
		})
	}
}

func repeat(m *sim, n int) {
	for range n {
		m.tool("Read")
	}
}

func (m *sim) big(n int) {
	m.must(m.capture(events.ToolUsed{Tool: "Bash", Output: string(make([]byte, n))}))
}

func TestOneTurnInFlight(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	m.tool("a")
	m.stop()
	w := *m.plan().Turn
	turn := m.start()
	if p := m.plan(); p.Turn != nil {
		t.Errorf("a second turn is due beside the first: %+v", p.Turn)
	}
	if err := m.do(StartTurn{Turn: m.id(), At: m.now, Work: w}); !errors.Is(err, ErrTurnInFlight) {
		t.Errorf("a second start: got %v, want ErrTurnInFlight", err)
	}
	m.must(m.keep(turn))
	if err := m.do(m.keep(turn)); !errors.Is(err, ErrNoTurn) {
		t.Errorf("a second answer: got %v, want ErrNoTurn", err)
	}
	if err := m.do(StartTurn{Turn: m.id(), At: m.now, Work: w}); !errors.Is(err, ErrNotDue) {
		t.Errorf("a start for settled inputs: got %v, want ErrNotDue", err)
	}
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		answer func(m *sim, turn events.ID) Command
		want   Balance
	}{
		{"kept", func(m *sim, id events.ID) Command { return m.keep(id) }, Balance{Captured: 3, Observed: 2, Pending: 1}},
		{"skipped", func(m *sim, id events.ID) Command { return m.skip(id, events.ReasonSkipSummary) }, Balance{Captured: 3, Skipped: 2, Pending: 1}},
		{"dropped", func(m *sim, id events.ID) Command { return m.drop(id, events.ReasonNoXML) }, Balance{Captured: 3, Dropped: 2, Pending: 1}},
		{"held", func(m *sim, id events.ID) Command { return m.fail(id, events.FailLimit) }, Balance{Captured: 3, Pending: 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := newSim(t, policy.ModelLimits())
			repeat(m, 2)
			m.stop()
			m.must(c.answer(m, m.start()))
			if got := m.state.Balance(); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestADroppedOutputNeverRespawns(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	for range 50 {
		m.tool("a")
		m.stop()
		m.must(m.drop(m.start(), events.ReasonNoXML))
		m.must(m.drop(m.start(), events.ReasonNoXML)) // the summary
	}
	if slices.ContainsFunc(m.kinds(), func(k events.Kind) bool {
		return k == events.KindSessionRespawned || k == events.KindSessionQuarantined
	}) || m.state.Generation() != 0 {
		t.Errorf("unparseable outputs led to supervision: generation %d", m.state.Generation())
	}
	if got := m.state.Balance(); got.Dropped != 100 || got.Captured != 100 {
		t.Errorf("got %+v, want 100 of 100 dropped and counted", got)
	}
}

func TestAMissingSummaryIsAskedForOnceMore(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	m.tool("a")
	m.stop()
	m.must(m.keep(m.start()))
	m.must(m.drop(m.start(), events.ReasonMissingSummary))
	if w := m.plan().Turn; w == nil || w.Kind != events.TurnSummary || w.Attempt != 2 {
		t.Fatalf("after the first: got %+v, want the summary again as attempt 2", w)
	}
	m.must(m.drop(m.start(), events.ReasonMissingSummary))
	if w := m.plan().Turn; w != nil {
		t.Errorf("after the second: %+v is due, want nothing", w)
	}
}

func TestWhatIsForgottenInFlightIsNotAskedOnceMore(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	m.tool("a")
	m.stop()
	m.must(m.keep(m.start()))
	turn := m.start()
	m.forget(1)
	m.must(m.drop(turn, events.ReasonMissingSummary))
	if w := m.plan().Turn; w != nil {
		t.Errorf("%+v is due: its text is gone", w)
	}
}

func TestReobserveBringsDroppedInputsBack(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	repeat(m, 3)
	m.stop()
	turn := m.start()
	started, _ := lastOf[events.TurnStarted](m)
	m.must(m.drop(turn, events.ReasonNoXML))
	m.must(m.skip(m.start(), events.ReasonSkipSummary))
	m.must(Reobserve{ID: m.id(), At: m.now, Turns: []events.ID{turn}, Inputs: started.Settles})
	if got := m.state.Balance(); got.Dropped != 3 {
		t.Errorf("asked again, not answered: got %+v, want still 3 dropped", got)
	}
	m.must(m.keep(m.start()))
	if got, want := m.state.Balance(), (Balance{Captured: 4, Observed: 3, Skipped: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if err := m.do(Reobserve{ID: m.id(), At: m.now, Inputs: []events.Position{1 << 40}}); !errors.Is(err, ErrNoInputs) {
		t.Errorf("unknown inputs: got %v, want ErrNoInputs", err)
	}
}

func TestIdleStopAndSilentClose(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ExtractorLimits())
	m.tool("a")
	m.now = m.now.Add(30*time.Minute - 1)
	if m.plan().Tick {
		t.Error("a tick is due a moment before half an hour")
	}
	m.now = m.now.Add(1)
	if !m.plan().Tick {
		t.Error("no tick is due at half an hour")
	}
	m.must(Tick{ID: m.id(), At: m.now})
	if s, ok := lastOf[events.AgentStopped](m); !ok || s.Cause != events.StopIdle || s.Work != 1 {
		t.Errorf("got %+v, want an idle stop of one input", s)
	}
	m.must(m.keep(m.start()))
	m.must(m.skip(m.start(), events.ReasonEmpty))
	m.now = start.Add(24 * time.Hour)
	m.must(Tick{ID: m.id(), At: m.now})
	if c, ok := lastOf[events.SessionClosed](m); !ok || c.Cause != "silent" || !m.state.Closed() {
		t.Errorf("got %+v, want a silent close", c)
	}
	if p := m.plan(); p.Tick || p.Turn != nil || !p.Next.IsZero() {
		t.Errorf("a closed session owes %+v", p)
	}
}

func TestAToolUseThatComesAfterItsStopBelongsToIt(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ExtractorLimits())
	m.tool("a")
	late := m.capture(events.ToolUsed{Tool: "late"})
	m.now = m.now.Add(time.Second)
	m.stop()
	m.must(m.keep(m.start()))
	m.must(m.keep(m.start()))
	m.now = m.now.Add(time.Second)
	m.tool("next") // the next stretch of work has begun
	m.must(late)
	w := m.plan().Turn
	if w == nil || len(w.Settles) != 1 || len(w.Reads) != 1 {
		t.Fatalf("got %+v, want the late one due at once and alone, reading the stop of its work", w)
	}
	m.must(m.keep(m.start()))
	if p := m.plan(); p.Turn != nil {
		t.Errorf("%+v is due, want the next stretch to wait for its stop", p.Turn)
	}
	m.stop()
	if s, _ := lastOf[events.AgentStopped](m); s.Work != 1 {
		t.Errorf("the next stop: %+v, want one tool use", s)
	}
}

func TestALaterLookAtClaimsIsRecordedBesideThem(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	looked := Recheck{ID: m.id(), At: m.now, Checked: []events.ClaimChecked{
		{Subject: m.id(), Claim: events.Claim{Kind: "commit", Value: "1234567", Verdict: events.Absent}},
		{Subject: m.id(), Claim: events.Claim{Kind: "commit", Value: "abcdef0", Verdict: events.Verified}},
	}}
	if err := m.do(looked); !errors.Is(err, ErrNoClaims) {
		t.Errorf("of a session nobody has heard of: got %v, want ErrNoClaims", err)
	}
	m.tool("a")
	m.stop()
	n, owed, before := len(m.log), len(m.state.owed), m.state.Balance()
	m.must(looked)
	if d := cmp.Diff([]events.Event{looked.Checked[0], looked.Checked[1]}, m.log[n:]); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
	if len(m.state.owed) != owed || m.state.Balance() != before {
		t.Errorf("a look at claims changed what is owed: %+v, want %+v", m.state.Balance(), before)
	}
	if err := m.do(Recheck{ID: m.id(), At: m.now}); !errors.Is(err, ErrNoClaims) {
		t.Errorf("without claims: got %v, want ErrNoClaims", err)
	}
}
