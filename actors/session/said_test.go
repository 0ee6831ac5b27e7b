package session

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// TestWhatWasSaidIsRead: an observation turn reads what was said around its inputs: behind the input before them, and up to the last
// of them, or to the end where they are the last.
func TestWhatWasSaidIsRead(t *testing.T) {
	t.Parallel()
	// What happens second by second: t is a tool use, s a text, p a private prompt, n another prompt, | a stop. Texts come into the
	// log at the stop, with their own times, as a transcript is read.
	for _, c := range []struct {
		what  string
		batch int
		reads []string // of each observation turn: the seconds of the texts
	}{
		{"stst|", 0, []string{"0 2"}},
		{"ststs|", 1, []string{"0", "2 4"}},
		{"sts|st|", 0, []string{"0 2", "4"}},
		{"sss|", 0, []string{"0 1 2"}},
		{"tt|", 0, []string{""}},
		{"nst|pst|", 0, []string{"1"}},
		{"pss|", 0, nil},
		{"|", 0, nil},
	} {
		m := newSim(t, policy.BatchLimits{MaxInputs: c.batch})
		seconds, pending := map[events.Position]string{}, []Command{}
		for i, what := range c.what {
			m.now = start.Add(time.Duration(i) * time.Second)
			switch what {
			case 't':
				m.tool("Bash")
			case 's':
				pending = append(pending, m.capture(events.AgentSaid{Text: strconv.Itoa(i)}))
			case 'p', 'n':
				m.must(m.capture(events.PromptSubmitted{Private: what == 'p'}))
			case '|':
				for _, said := range pending {
					m.must(said)
				}
				pending = nil
				m.stop()
			}
		}
		for i, r := range m.records {
			if e, ok := m.log[i].(events.AgentSaid); ok {
				seconds[r.Position] = e.Text
			}
		}
		var reads []string
		for {
			p := m.plan()
			if p.Turn == nil {
				break
			}
			if p.Turn.Kind == events.TurnObservation {
				var said []string
				for _, at := range p.Turn.Reads {
					if text, ok := seconds[at]; ok {
						said = append(said, text)
					}
				}
				reads = append(reads, strings.Join(said, " "))
			}
			m.must(m.keep(m.start()))
		}
		if d := cmp.Diff(c.reads, reads); d != "" {
			t.Errorf("%s in batches of %d (-want +got):\n%s", c.what, c.batch, d)
		}
	}
}

// TestAnAnswerWithoutToolsIsObserved: its stop counts, and an observation turn settles it. A stop without a word is no input.
func TestAnAnswerWithoutToolsIsObserved(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.BatchLimits{})
	m.must(m.capture(events.AgentStopped{LastMessage: "We keep bbolt, because it needs no server."}))
	p := m.plan()
	if p.Turn == nil || p.Turn.Kind != events.TurnObservation || len(p.Turn.Settles) != 1 {
		t.Fatalf("owed is %+v, want an observation turn over the stop", p.Turn)
	}
	m.must(m.keep(m.start()))
	if b := m.state.Balance(); b.Captured != 1 || b.Observed != 1 || m.plan().Turn != nil {
		t.Errorf("balance %+v, and then owed %+v; want one input, observed, and nothing", b, m.plan().Turn)
	}
	m.must(m.capture(events.AgentStopped{LastMessage: " \n"}))
	m.must(m.capture(events.PromptSubmitted{Private: true}))
	m.must(m.capture(events.AgentStopped{LastMessage: "private"}))
	if b := m.state.Balance(); b.Captured != 1 || m.plan().Turn != nil {
		t.Errorf("balance %+v, owed %+v; want neither of the two stops", b, m.plan().Turn)
	}
	if e, _ := lastOf[events.AgentStopped](m); e.LastMessage != "" {
		t.Errorf("the answer to a private prompt keeps %q", e.LastMessage)
	}
}

// TestWhatAnsweredAPrivatePromptIsCut: whichever prompt is the present one when it is read.
func TestWhatAnsweredAPrivatePromptIsCut(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.BatchLimits{})
	second := func(n int) time.Time { return start.Add(time.Duration(n) * time.Second) }
	for i, private := range []bool{false, true, false} {
		m.now = second(10 * i)
		m.must(m.capture(events.PromptSubmitted{Private: private}))
	}
	m.now = second(60)
	for at, want := range map[int]events.AgentSaid{
		-5: {Text: "said"}, 5: {Text: "said", Prompt: 1}, 15: {Prompt: 2}, 25: {Text: "said", Prompt: 3},
	} {
		c := m.capture(events.AgentSaid{Text: "said"})
		c.At = second(at)
		m.must(c)
		if got, _ := lastOf[events.AgentSaid](m); !cmp.Equal(got, want) {
			t.Errorf("what was said after %d s became %+v, want %+v", at, got, want)
		}
	}
}

// TestWordsReadLaterOpenNoSession: the transcript of a session that was closed may be read after that.
func TestWordsReadLaterOpenNoSession(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.BatchLimits{})
	m.tool("Bash")
	m.must(m.capture(events.SessionClosed{Cause: "other"}))
	m.must(m.capture(events.AgentSaid{Text: "late"}))
	if !m.state.Closed() {
		t.Error("a text that was read later opened the session again")
	}
}
