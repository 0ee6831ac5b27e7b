package session

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// TestNothingIsLostAndNothingWaitsForEver plays random commands, answers, failures, crashes and restarts. At every step
// the balance holds by the definition and a fold equals the live state (sim.check); at the end time goes on, the
// provider answers, and no input is left waiting.
func TestNothingIsLostAndNothingWaitsForEver(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		limits := rapid.SampledFrom([]policy.BatchLimits{
			policy.ModelLimits(), policy.ExtractorLimits(), {MaxInputs: 3, MaxBytes: 400, MaxAge: time.Second}, {},
		}).Draw(rt, "limits")
		m := newSim(t, limits)
		m.tb = tb{t, rt}
		m.randomRules(rt)
		n := rapid.IntRange(1, 45).Draw(rt, "steps")
		for range n {
			m.randomStep(rt)
		}
		m.settleEverything()
		m.checkGuard()
	})
}

// checkGuard looks, by the log alone, for inputs that a provider cost which had answered nothing since it first failed them.
func (m *sim) checkGuard() {
	first := map[string]events.Position{} // by provider and input
	owed := map[events.ID][]events.Position{}
	for n, r := range m.records {
		switch e := m.log[n].(type) {
		case events.TurnStarted:
			owed[e.Turn] = e.Settles
		case events.ReobserveRequested:
			for key := range first {
				for _, p := range e.Inputs {
					if strings.HasSuffix(key, fmt.Sprint(" ", p)) {
						delete(first, key)
					}
				}
			}
		case events.TurnFailed:
			if !e.Class.BlamesTurn() {
				continue
			}
			for _, p := range owed[e.Turn] {
				if key := fmt.Sprint(e.Provider, " ", p); first[key] == 0 {
					first[key] = r.Position
				}
			}
		case events.InputsDropped:
			f, ok := m.log[n-1].(events.TurnFailed)
			if e.Turn == (events.ID{}) || !ok || !f.Class.BlamesTurn() {
				continue
			}
			for _, p := range e.Inputs {
				if at := first[fmt.Sprint(f.Provider, " ", p)]; f.Answered <= at {
					m.tb.Fatalf("input %d was given up at %d; %s first failed it at %d and answered at %d", p, r.Position, f.Provider, at, f.Answered)
				}
			}
		}
	}
}

// tb sends failures to rapid, so that it shrinks them, and all else to the test.
type tb struct {
	*testing.T
	rt *rapid.T
}

func (t tb) Fatalf(format string, args ...any) { t.rt.Fatalf(format, args...) }
func (t tb) Fatal(args ...any)                 { t.rt.Fatal(args...) }
func (t tb) Helper()                           {}

func (m *sim) randomStep(rt *rapid.T) {
	m.now = m.now.Add(rapid.SampledFrom([]time.Duration{
		0, time.Millisecond, time.Second, time.Minute, 31 * time.Minute, 25 * time.Hour,
	}).Draw(rt, "later"))
	switch rapid.IntRange(0, 19).Draw(rt, "what") {
	case 0, 1, 2, 3:
		size := rapid.IntRange(0, 300).Draw(rt, "size")
		c := m.capture(events.ToolUsed{Tool: "Read", Output: string(make([]byte, size))})
		if rapid.Bool().Draw(rt, "keyed") {
			c.Key = events.KeyOf(fmt.Sprint(rapid.IntRange(0, 9).Draw(rt, "key")))
		}
		m.must(c)
	case 4:
		m.stop()
	case 5:
		m.must(m.capture(events.PromptSubmitted{Private: rapid.IntRange(0, 4).Draw(rt, "private") == 0}))
	case 6:
		m.must(m.capture(rapid.SampledFrom([]events.Event{
			events.ContextCompacted{}, events.SessionClosed{}, events.SessionOpened{}, events.ContextInjected{},
			events.AgentSaid{Text: "said"}, events.AgentStopped{LastMessage: "said last"},
		}).Draw(rt, "captured")))
	case 7:
		m.must(Tick{ID: m.id(), At: m.now})
	case 8:
		m.state = m.fold()
		m.must(Interrupt{ID: m.id(), At: m.now, Clean: rapid.Bool().Draw(rt, "clean")})
	case 9:
		m.reobserveSome(rt)
	case 10:
		m.forgetOne(rt)
	case 11:
		m.must(m.randomExpire(rt))
	case 12:
		m.forgetByCommand(rt)
	case 13:
		m.must(Settle{ID: m.id(), At: m.now, Last: rapid.SampledFrom([]time.Time{{}, start, m.now}).Draw(rt, "last line")})
	case 14:
		if err := m.do(Release{ID: m.id(), At: m.now}); err != nil && err != ErrNotQuarantined {
			m.tb.Fatal(err)
		}
	case 15: // from a spool, or a transcript that is read long after
		c := m.capture(rapid.SampledFrom([]events.Event{
			events.ToolUsed{Tool: "Edit"}, events.ToolUsed{Tool: "Bash", Refused: true}, events.AgentSaid{Text: "late"},
		}).Draw(rt, "late"))
		c.At = c.At.Add(-rapid.SampledFrom([]time.Duration{time.Second, time.Minute, 25 * time.Hour}).Draw(rt, "earlier"))
		m.must(c)
	default:
		m.randomTurn(rt)
	}
}

func (m *sim) randomRules(rt *rapid.T) {
	m.rules.HeldMaxInputs, m.rules.HeldMaxAge = rapid.IntRange(1, 20).Draw(rt, "held"), time.Hour
	if rapid.Bool().Draw(rt, "supervised") {
		m.rules.Outputs = &policy.Unparseable{Max: rapid.IntRange(1, 3).Draw(rt, "unparseable"), Every: time.Minute}
	}
}

func (m *sim) randomExpire(rt *rapid.T) Command {
	return Expire{ID: m.id(), At: m.now, Held: rapid.SampledFrom([]time.Time{{}, start, m.now}).Draw(rt, "held since")}
}

func (m *sim) randomTurn(rt *rapid.T) {
	turn, flying := m.state.InFlight()
	if !flying {
		if m.plan().Turn != nil {
			m.start()
		}
		return
	}
	classes := []events.FailureClass{
		events.FailCrash, events.FailLimit, events.FailRefused, events.FailOverflow, events.FailTruncated, "odd",
	}
	switch rapid.IntRange(0, 4).Draw(rt, "end") {
	case 0:
		m.must(m.keep(turn))
	case 1:
		m.must(m.skip(turn, rapid.SampledFrom([]string{events.ReasonEmpty, events.ReasonSkipSummary}).Draw(rt, "skip")))
	case 2:
		m.must(m.drop(turn, rapid.SampledFrom([]string{events.ReasonNoXML, events.ReasonMissingSummary}).Draw(rt, "drop")))
	default:
		f := m.fail(turn, rapid.SampledFrom(classes).Draw(rt, "class"))
		f.Failed.Provider = rapid.SampledFrom([]string{"one", "another"}).Draw(rt, "provider")
		if rapid.Bool().Draw(rt, "never answered") {
			f.Failed.Answered = 0
		}
		m.must(f)
	}
}

func (m *sim) reobserveSome(rt *rapid.T) {
	var ps []events.Position
	for _, in := range m.state.inputs {
		if rapid.Bool().Draw(rt, "again") {
			ps = append(ps, in.position)
		}
	}
	by := rapid.SampledFrom([]string{"", "one", "another"}).Draw(rt, "asked")
	if err := m.do(Reobserve{ID: m.id(), At: m.now, Inputs: ps, Provider: by}); err != nil && err != ErrNoInputs {
		m.tb.Fatal(err)
	}
}

// forgetOne forgets any input: no command of the session does.
func (m *sim) forgetOne(rt *rapid.T) {
	if len(m.state.inputs) == 0 {
		return
	}
	m.forget(rapid.IntRange(0, len(m.state.inputs)-1).Draw(rt, "forget"))
}

// forgetByCommand forgets some records of the session, whatever they are.
func (m *sim) forgetByCommand(rt *rapid.T) {
	var ps []events.Position
	for _, r := range m.records {
		if rapid.IntRange(0, 7).Draw(rt, "forgotten") == 0 {
			ps = append(ps, r.Position)
		}
	}
	err := m.do(Forget{ID: m.id(), At: m.now, Forgotten: []events.MemoryForgotten{{Positions: ps}}})
	if err != nil && err != ErrNothingToForget {
		m.tb.Fatal(err)
	}
}

// forget appends what a person's wish to forget an input appends.
func (m *sim) forget(i int) {
	drafts := newDecision(m.id(), m.now).add(events.MemoryForgotten{Positions: []events.Position{m.state.inputs[i].position}}).drafts
	Apply(m.state, drafts)
	m.state.Place(m.append(drafts))
	m.check()
}

func (m *sim) settleEverything() {
	if turn, flying := m.state.InFlight(); flying {
		m.must(m.keep(turn))
	}
	for n := 0; ; n++ {
		if n > 2000 {
			m.tb.Fatalf("still busy after 2000 steps: %+v", m.plan())
		}
		p := m.plan()
		switch {
		case p.Turn != nil:
			m.must(m.keep(m.start()))
		case p.Tick:
			m.must(Tick{ID: m.id(), At: m.now})
		case !p.Next.IsZero():
			m.now = p.Next
		case m.state.Owes():
			m.tb.Fatalf("inputs wait for ever: %+v of %+v", m.state.owed, m.state.inputs)
		default:
			return
		}
	}
}
