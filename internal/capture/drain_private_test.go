package capture

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
)

// unsaid is in what nobody may read: a private prompt, and all that an agent does and says because of it.
const unsaid = "hippopotamus"

// privateTurn is what hooks of an agent tell of a prompt that is all private, of what it did then, and of the prompt behind it.
func privateTurn(agent string) (payloads []string) {
	prompt := "<private>tell of the " + unsaid + "</private>"
	switch agent {
	case "claude-code", "codex":
		payloads = []string{
			`{"hook_event_name":"UserPromptSubmit","prompt":"` + prompt + `"`,
			`{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"echo ` + unsaid + `"},"tool_response":{"stdout":"` + unsaid + `"}`,
			`{"hook_event_name":"SubagentStop","agent_id":"a","agent_type":"g","last_assistant_message":"` + unsaid + `"`,
			`{"hook_event_name":"Stop","last_assistant_message":"the ` + unsaid + `"`,
			`{"hook_event_name":"PostCompact","trigger":"manual","compact_summary":"the ` + unsaid + `"`,
			`{"hook_event_name":"UserPromptSubmit","prompt":"go on"`,
			`{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"u","tool_input":{"command":"ls"},"tool_response":{"stdout":"a"}`,
		}
		return ended(payloads, `,"session_id":"s","cwd":"/src/shop"}`)
	case "gemini-cli":
		payloads = []string{
			`{"hook_event_name":"BeforeAgent","prompt":"` + prompt + `"`,
			`{"hook_event_name":"AfterTool","tool_name":"shell","tool_input":{"command":"echo ` + unsaid + `"},"tool_response":{"llmContent":"` + unsaid + `"}`,
			`{"hook_event_name":"AfterAgent","prompt":"` + prompt + `","prompt_response":"the ` + unsaid + `"`,
			`{"hook_event_name":"BeforeAgent","prompt":"go on"`,
			`{"hook_event_name":"AfterTool","tool_name":"shell","tool_input":{"command":"ls"},"tool_response":{"llmContent":"a"}`,
		}
		return ended(payloads, `,"session_id":"s","cwd":"/src/shop"}`)
	case "cursor":
		payloads = []string{
			`{"hook_event_name":"beforeSubmitPrompt","prompt":"` + prompt + `"`,
			`{"hook_event_name":"afterShellExecution","command":"echo ` + unsaid + `","output":"` + unsaid + `"`,
			`{"hook_event_name":"subagentStop","subagent_id":"a","summary":"` + unsaid + `"`,
			`{"hook_event_name":"afterAgentResponse","text":"the ` + unsaid + `"`,
			`{"hook_event_name":"beforeSubmitPrompt","prompt":"go on"`,
			`{"hook_event_name":"afterShellExecution","command":"ls","output":"a"`,
		}
		return ended(payloads, `,"conversation_id":"s","workspace_roots":["/src/shop"]}`)
	case "windsurf":
		payloads = []string{
			`{"agent_action_name":"pre_user_prompt","tool_info":{"user_prompt":"` + prompt + `"}`,
			`{"agent_action_name":"post_run_command","tool_info":{"command_line":"echo ` + unsaid + `","cwd":"/src/shop"}`,
			`{"agent_action_name":"post_cascade_response","tool_info":{"response":"the ` + unsaid + `"}`,
			`{"agent_action_name":"pre_user_prompt","tool_info":{"user_prompt":"go on"}`,
			`{"agent_action_name":"post_run_command","tool_info":{"command_line":"ls","cwd":"/src/shop"}`,
		}
		return ended(payloads, `,"trajectory_id":"s","cmemd_cwd":"/src/shop"}`)
	case "opencode":
		said := func(text string) string {
			return `{"hook":"chat.message","output":{"message":{"id":"m` + text[:1] + `"},"parts":[{"type":"text","text":"` + text + `"}]}`
		}
		ran := func(id, command, output string) string {
			return `{"hook":"event","input":{"type":"message.part.updated","properties":{"part":{"type":"tool","tool":"bash","callID":"` + id +
				`","state":{"status":"completed","input":{"command":"` + command + `"},"output":"` + output + `"}}}}`
		}
		payloads = []string{
			said(prompt), ran("t", "echo "+unsaid, unsaid), `{"hook":"event","said":"the ` + unsaid + `","input":{"type":"session.idle"}`,
			`{"hook":"event","said":"the ` + unsaid + `","input":{"type":"session.compacted"}`, said("go on"), ran("u", "ls", "a"),
		}
		return ended(payloads, `,"session":"s","directory":"/src/shop"}`)
	}
	payloads = []string{
		`{"event":"prompt","text":"` + prompt + `"`, `{"event":"tool","tool":"run","input":{"command":"echo ` + unsaid + `"},"output":"` + unsaid + `"`,
		`{"event":"stop","text":"the ` + unsaid + `"`, `{"event":"compact","text":"the ` + unsaid + `"`,
		`{"event":"prompt","text":"go on"`, `{"event":"tool","tool":"run","input":{"command":"ls"},"output":"a"`,
	}
	return ended(payloads, `,"session":"s","cwd":"/src/shop"}`)
}

func ended(payloads []string, end string) []string {
	for i := range payloads {
		payloads[i] += end
	}
	return payloads
}

// TestAPrivatePromptStaysSoInTheSpool: what was spooled is recorded as what was posted is. A prompt without words, because its
// hook cut them, is private; the agent's work for it is not observed and leaves no words, and the next prompt's is.
func TestAPrivatePromptStaysSoInTheSpool(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{"claude-code", "codex", "gemini-cli", "cursor", "windsurf", "opencode", "raw"} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			payloads := privateTurn(agent)
			live := newWorld(t, nil)
			for n, p := range payloads {
				at := time.Date(2026, 11, 20, 10, 0, n, 0, time.UTC)
				if _, err := live.client.Hook(t.Context(), agent, []byte(p), newID(), at); err != nil {
					t.Fatalf("%s: %v", p, err)
				}
			}
			drained := newWorld(t, func(c *Config) {
				w := &world{home: c.Home}
				for n, p := range payloads {
					w.spool(t, agent, newID(), n, []byte(p))
				}
			})
			eventually(t, "the spool is empty", func() bool { return drained.waiting(t) == 0 })
			want, got := live.recorded(t), drained.recorded(t)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("drained (-live +drained):\n%s", diff)
			}
			all := fmt.Sprint(want, got)
			if strings.Contains(all, unsaid) || !strings.Contains(all, `Private:true`) || !strings.Contains(all, "ls") {
				t.Errorf("recorded %s", all)
			}
		})
	}
}

// recorded is what the log says of the agent, but for how long a prompt was.
func (w *world) recorded(t *testing.T) (all []string) {
	t.Helper()
	for _, r := range w.records(t) {
		e, err := r.Event()
		if err != nil {
			t.Fatal(err)
		}
		switch p := e.(type) {
		case events.PromptSubmitted:
			p.Size = 0
			e = p
		case events.SessionOpened, events.ToolUsed, events.AgentStopped, events.ContextCompacted:
		default:
			continue // of the daemon's
		}
		all = append(all, fmt.Sprintf("%s unobserved:%v %+v", r.Kind, r.Unobserved, e))
	}
	return all
}
