package session

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// What another memory made is recorded as it is, beside what is captured: it settles nothing, and nothing is owed for it.
func TestImported(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	m.must(m.capture(events.ToolUsed{Tool: "Read", Output: "package a"}))
	m.must(m.capture(events.ToolUsed{Tool: "Read", Output: "package b", Unobserved: events.UnobservedImported}))
	m.must(m.capture(events.ObservationParsed{Observation: m.id(), Title: "a", Source: "other"}))
	m.must(m.capture(events.SummaryParsed{Summary: m.id(), Request: "b", Source: "other"}))
	if d := cmp.Diff(Balance{Captured: 1, Pending: 1}, m.state.Balance()); d != "" {
		t.Errorf("balance (-want +got):\n%s", d)
	}
	if tool, _ := m.log[2].(events.ToolUsed); tool.Output != "package b" || !m.records[2].Unobserved {
		t.Errorf("the tool use is %+v (unobserved: %t), want its words, and no turn", m.log[2], m.records[2].Unobserved)
	}
	m.must(m.capture(events.PromptSubmitted{Private: true}))
	m.must(m.capture(events.ToolUsed{Tool: "Read", Output: "secret", Unobserved: events.UnobservedImported}))
	if tool, _ := m.log[len(m.log)-1].(events.ToolUsed); tool.Output != "" {
		t.Errorf("what served a private prompt kept its words: %+v", tool)
	}
}

func TestOnlyOtherMemoriesAreImported(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	for _, e := range []events.Event{
		events.ObservationParsed{Title: "nobody's"}, events.SummaryParsed{Request: "nobody's"},
		events.ObservationParsed{Title: "a turn's", Source: "other", Turn: m.id()},
		events.SummaryParsed{Request: "a turn's", Source: "other", Turn: m.id()},
	} {
		if err := m.do(m.capture(e)); !errors.Is(err, ErrNotCapture) {
			t.Errorf("%+v: got %v, want %v", e, err, ErrNotCapture)
		}
	}
}
