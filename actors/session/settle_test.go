package session

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// TestSettle: what a session left unfinished gets one stop, dated by the last that was heard, once idle_stop has passed since.
func TestSettle(t *testing.T) {
	t.Parallel()
	const idle = 10 * time.Minute
	type stops struct {
		Added    int // events
		Work     int
		At       time.Duration // behind the start
		Captured int           // inputs of the session then
	}
	for name, c := range map[string]struct {
		what  string        // as play has it happen
		after time.Duration // since the start
		last  time.Duration // of the transcript's last line since the start; 0: not known
		want  stops
	}{
		"work":                              {"ntt", time.Hour, 0, stops{1, 2, 2 * time.Minute, 3}},
		"words alone":                       {"ns", time.Hour, 0, stops{1, 0, time.Minute, 1}},
		"words behind work":                 {"nts", time.Hour, 0, stops{1, 1, 2 * time.Minute, 2}},
		"work behind a stop":                {"nt|nt", time.Hour, 0, stops{1, 1, 4 * time.Minute, 4}},
		"exactly as long":                   {"nt", time.Minute + idle, 0, stops{1, 1, time.Minute, 2}},
		"young":                             {"nt", time.Minute + idle - 1, 0, stops{Captured: 1}},
		"a prompt alone is young":           {"nt.........n", 12 * time.Minute, 0, stops{Captured: 1}},
		"it is given memory now":            {"nt.........i", 12 * time.Minute, 0, stops{Captured: 1}},
		"its last line is young":            {"nt", time.Hour, 55 * time.Minute, stops{Captured: 1}},
		"its last line is older than hooks": {"nt", time.Hour, time.Second, stops{1, 1, time.Minute, 2}},
		"stopped":                           {"nt|", time.Hour, 0, stops{Captured: 2}},
		"closed":                            {"ntx", time.Hour, 0, stops{Captured: 2}},
		"words of a closed session":         {"ntxs", time.Hour, 0, stops{Captured: 2}},
		"a prompt alone":                    {"n", time.Hour, 0, stops{}},
		"private":                           {"pts", time.Hour, 0, stops{}},
		"nothing was heard of it":           {"", time.Hour, 0, stops{}},
	} {
		m := newSim(t, policy.BatchLimits{})
		m.rules.IdleStop = idle
		m.play(c.what)
		before := len(m.log)
		m.now = start.Add(c.after)
		cmd := Settle{ID: m.id(), At: m.now}
		if c.last > 0 {
			cmd.Last = start.Add(c.last)
		}
		m.must(cmd)
		got := stops{Added: len(m.log) - before, Captured: m.state.Balance().Captured}
		for i, e := range m.log[before:] {
			if e, ok := e.(events.AgentStopped); ok && e.Cause == events.StopIdle {
				got.Work, got.At = e.Work, m.records[before+i].OccurredAt.Sub(start)
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %q (-want +got):\n%s", name, c.what, d)
		}
		after := len(m.log)
		cmd.ID = m.id()
		if m.must(cmd); len(m.log) != after {
			t.Errorf("%s: a second time added %v", name, m.kinds()[after:])
		}
	}
}

// play has something happen minute by minute: n is a prompt, p a private one, t a tool use, s a text, i injected memory, | a stop,
// x an end.
func (m *sim) play(what string) {
	for i, what := range what {
		m.now = start.Add(time.Duration(i) * time.Minute)
		switch what {
		case 'n', 'p':
			m.must(m.capture(events.PromptSubmitted{Private: what == 'p'}))
		case 't':
			m.tool("Bash")
		case 's':
			m.must(m.capture(events.AgentSaid{Text: "said"}))
		case 'i':
			m.must(m.capture(events.ContextInjected{}))
		case '|':
			m.stop()
		case 'x':
			m.must(m.capture(events.SessionClosed{Cause: "exit"}))
		}
	}
}

// TestSettledIsObserved: nothing waits any more, and a session that goes on does so as ever.
func TestSettledIsObserved(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.BatchLimits{})
	m.must(m.capture(events.PromptSubmitted{Text: "why?"}))
	m.must(m.capture(events.AgentSaid{Text: "because of the lock"}))
	m.tool("Bash")
	m.now = m.now.Add(24 * time.Hour)
	if m.plan().Turn != nil {
		t.Fatal("a turn is due before the work has stopped")
	}
	m.must(Settle{ID: m.id(), At: m.now})
	for _, want := range []events.TurnKind{events.TurnObservation, events.TurnSummary} {
		if p := m.plan(); p.Turn == nil || p.Turn.Kind != want {
			t.Fatalf("owed is %+v, want a turn of kind %s", p.Turn, want)
		}
		m.must(m.keep(m.start()))
	}
	m.now = m.now.Add(time.Hour)
	m.must(m.capture(events.PromptSubmitted{Text: "and now?"}))
	m.tool("Bash")
	m.tool("Bash")
	if b := m.state.Balance(); b.Pending != 2 || m.plan().Turn != nil {
		t.Errorf("balance %+v, owed %+v; want two inputs that wait for their stop", b, m.plan().Turn)
	}
	m.stop()
	if e, _ := lastOf[events.AgentStopped](m); e.Work != 2 || e.Prompt != 2 {
		t.Errorf("the stop of what came later: got %+v, want its own two tool uses alone", e)
	}
}
