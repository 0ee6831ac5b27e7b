package relay

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/cmemd/cmemd/internal/agents/known"
	"github.com/cmemd/cmemd/internal/jsonscan"
)

// TestEventsOfAgents: the event that a payload names, whether it opens a session, and whether the person may be spoken to.
func TestEventsOfAgents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		agent, payload, event string
		opens, speaks         bool
	}{
		{"claude-code", `{"hook_event_name":"SessionStart"}`, "SessionStart", true, true},
		{"claude-code", `{"hook_event_name":"UserPromptSubmit"}`, "UserPromptSubmit", false, true},
		{"claude-code", `{"hook_event_name":"Stop"}`, "Stop", false, false},
		{"codex", `{"hook_event_name":"SessionStart"}`, "SessionStart", true, true},
		{"codex", `{"hook_event_name":"UserPromptSubmit"}`, "UserPromptSubmit", false, false},
		{"codex", `{"type":"agent-turn-complete"}`, "", false, false},
		{"gemini-cli", `{"hook_event_name":"SessionStart"}`, "SessionStart", true, true},
		{"gemini-cli", `{"hook_event_name":"BeforeAgent"}`, "BeforeAgent", false, false},
		{"cursor", `{"hook_event_name":"sessionStart"}`, "sessionStart", true, false},
		{"cursor", `{"hook_event_name":"stop"}`, "stop", false, false},
		{"opencode", `{"hook_event_name":"session.created"}`, "session.created", true, false},
		{"opencode", `{"hook_event_name":"session.resumed"}`, "session.resumed", true, false},
		{"opencode", `{"hook_event_name":"session.idle"}`, "session.idle", false, false},
		{"windsurf", `{"agent_action_name":"pre_user_prompt"}`, "", false, false},
		{"raw", `{"event":"start"}`, "start", true, false},
		{"raw", `{"event":"stop","hook_event_name":"start"}`, "stop", false, false},
	} {
		agent, _ := known.ByName(c.agent)
		event := eventOf(agent, []byte(c.payload))
		opens, speaks := slices.Contains(agent.OpenEvents, event), slices.Contains(agent.NoticeEvents, event)
		if event != c.event || opens != c.opens || speaks != c.speaks {
			t.Errorf("%s %s: got %q, opens %v, speaks %v", c.agent, c.payload, event, opens, speaks)
		}
	}
}

// TestFolder: Windsurf's payloads say where the hook was started, those of others are not touched.
func TestFolder(t *testing.T) {
	t.Parallel()
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	windsurf, _ := known.ByName("windsurf")
	for _, payload := range []string{`{"a":1}`, " {\n\"a\":1}", `{}`, `{ }`} {
		var got map[string]any
		if err := json.Unmarshal(withFolder(windsurf, []byte(payload)), &got); err != nil || got[folderMember] != cwd {
			t.Errorf("%s: got %v, error %v; want %s in it", payload, got, err, cwd)
		}
		if got := withFolder(known.Agent{}, []byte(payload)); string(got) != payload {
			t.Errorf("another agent's %s became %s", payload, got)
		}
	}
	for _, payload := range []string{`[]`, `{`, `"x"`, `x`} {
		if got := withFolder(windsurf, []byte(payload)); string(got) != payload {
			t.Errorf("%s became %s", payload, got)
		}
	}
	for _, path := range []string{`/a "b"\c`, "/tab\tand\x1bescape", "/日本/é"} {
		var got string
		if err := json.Unmarshal(jsonscan.AppendQuoted(nil, path), &got); err != nil || got != path {
			t.Errorf("%q became %q, error %v", path, got, err)
		}
	}
}
