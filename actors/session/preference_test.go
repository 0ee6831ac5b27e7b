package session

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// TestPreferencesStandBehindWhatTheyStandIn: in the same append, with the number of the prompt and the call; what is private has none.
func TestPreferencesStandBehindWhatTheyStandIn(t *testing.T) {
	t.Parallel()
	rule := events.PreferenceStated{Sentence: "Always use pnpm.", Same: events.KeyOf("always use pnpm"), Prompt: 9, ToolUseID: "forged"}
	in := func(prompt int, call string) []events.PreferenceStated {
		e := rule
		e.Prompt, e.ToolUseID = prompt, call
		return []events.PreferenceStated{e}
	}
	m := newSim(t, policy.BatchLimits{})
	key := events.KeyOf("prompt")
	for _, c := range []struct {
		event events.Event
		want  []events.PreferenceStated
	}{
		{events.PromptSubmitted{Text: "Always use pnpm."}, in(1, "")},
		{events.ToolUsed{ToolUseID: "t1", Tool: "Bash", Failed: true, Refused: true}, in(1, "t1")},
		{events.AgentStopped{LastMessage: "Always use pnpm."}, nil},
		{events.AgentSaid{Text: "Always use pnpm."}, nil},
		{events.PromptSubmitted{Private: true}, nil},
		{events.ToolUsed{ToolUseID: "t2", Tool: "Bash", Failed: true, Refused: true}, nil},
		{events.PromptSubmitted{Text: "Always use pnpm."}, in(3, "")},
	} {
		before := len(m.log)
		cmd := m.capture(c.event)
		cmd.Preferences = []events.PreferenceStated{rule}
		if _, ok := c.event.(events.PromptSubmitted); ok {
			key = events.KeyOf("prompt", key.String())
			cmd.Key = key
		}
		m.must(cmd)
		var got []events.PreferenceStated
		for _, e := range m.log[before:] {
			if e, ok := e.(events.PreferenceStated); ok {
				got = append(got, e)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%T (-want +got):\n%s", c.event, diff)
		}
		if cmd.Key.IsZero() {
			continue
		}
		before = len(m.log)
		if m.must(cmd); len(m.log) != before {
			t.Errorf("%T came again, and made %v", c.event, m.log[before:])
		}
	}
}

// TestARefusalReadLaterIsOfItsOwnPrompt: what was refused under a private prompt is private whenever it is read.
func TestARefusalReadLaterIsOfItsOwnPrompt(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.BatchLimits{})
	m.must(m.capture(events.PromptSubmitted{Private: true}))
	m.now = start.Add(time.Minute)
	m.must(m.capture(events.PromptSubmitted{Text: "go on"}))
	refused := m.capture(events.ToolUsed{ToolUseID: "t1", Tool: "Bash", Input: "secret", Failed: true, Refused: true})
	refused.At = start.Add(time.Second)
	refused.Preferences = []events.PreferenceStated{{Sentence: "Always use pnpm."}}
	m.must(refused)
	if e, _ := lastOf[events.ToolUsed](m); e.Input != "" || e.Prompt != 1 || e.Unobserved != "private" {
		t.Errorf("got %+v, want no words, of prompt 1", e)
	}
	if e, ok := lastOf[events.PreferenceStated](m); ok {
		t.Errorf("got %+v", e)
	}
}

// TestWhatAPrivatePromptAsksForIsNotKept: which rows a call of our own names is kept, but not under a private prompt.
func TestWhatAPrivatePromptAsksForIsNotKept(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.BatchLimits{})
	for _, private := range []bool{false, true} {
		m.must(m.capture(events.PromptSubmitted{Private: private}))
		m.must(m.capture(events.ToolUsed{Tool: "mcp__cmemd__get", Unobserved: "own", Named: []string{"m41"}}))
		if e, _ := lastOf[events.ToolUsed](m); (len(e.Named) == 0) != private {
			t.Errorf("private %t: got %q", private, e.Named)
		}
	}
}
