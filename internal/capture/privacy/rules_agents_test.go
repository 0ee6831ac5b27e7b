package privacy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/capture/privacy"
)

// TestCutReportsAreUnderstood: of each payload that was seen of any agent, what is left without its contents says the same of
// who did what where.
func TestCutReportsAreUnderstood(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../agents/testdata/*/*.json")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, path := range files {
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		agent, err := agents.ByName(filepath.Base(filepath.Dir(path)))
		if err != nil {
			continue // a folder of something else
		}
		before, err := agent.Decode(body, agents.Meta{})
		if err != nil || len(before.Captures) != 1 {
			continue
		}
		was, ok := before.Captures[0].Event.(events.ToolUsed)
		if !ok || was.Unobserved != "" {
			continue
		}
		cut, ok := privacy.CutReport(body)
		if !ok {
			t.Errorf("%s: it is not JSON", path)
			continue
		}
		after, err := agent.Decode(cut, agents.Meta{})
		if err != nil || len(after.Captures) != 1 {
			t.Errorf("%s: %d captures, %v: %s", path, len(after.Captures), err, cut)
			continue
		}
		is := after.Captures[0].Event.(events.ToolUsed)
		if diff := cmp.Diff([]string{was.Tool, was.ToolUseID, was.Cwd, before.Event}, []string{is.Tool, is.ToolUseID, is.Cwd, after.Event}); diff != "" {
			t.Errorf("%s: -want +got:\n%s", path, diff)
		}
		if diff := cmp.Diff(before.Origin, after.Origin); diff != "" {
			t.Errorf("%s: -want +got:\n%s", path, diff)
		}
		if len(was.Output) > 40 && strings.Contains(is.Output, was.Output) {
			t.Errorf("%s: its output is there: %s", path, is.Output)
		}
	}
}

// TestNoAgentsContentsAreSpooled plants a word where each agent says what it wrote into a dotenv file, or what it read there.
func TestNoAgentsContentsAreSpooled(t *testing.T) {
	t.Parallel()
	const word = "correct-horse-battery"
	for name, body := range map[string]string{
		"codex patch": `{"hook_event_name":"PostToolUse","session_id":"s","cwd":"/s","tool_name":"apply_patch","tool_use_id":"t","tool_input":{"command":"*** Begin Patch\n*** Add File: .env\n+` + word + `\n*** End Patch"},"tool_response":"` + word + `"}`,
		"codex shell": `{"hook_event_name":"PostToolUse","session_id":"s","cwd":"/s","tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"cat .env"},"tool_response":"` + word + `"}`,
		"gemini-cli":  `{"hook_event_name":"AfterTool","session_id":"s","cwd":"/s","tool_name":"write_file","tool_input":{"file_path":"/s/.env","content":"` + word + `"},"tool_response":{"llmContent":"` + word + `","returnDisplay":{"fileDiff":"+` + word + `"}}}`,
		"cursor":      `{"hook_event_name":"afterFileEdit","conversation_id":"c","generation_id":"g","workspace_roots":["/s"],"file_path":"/s/.env","edits":[{"old_string":"` + word + `","new_string":"` + word + `"}]}`,
		"cursor run":  `{"hook_event_name":"afterShellExecution","conversation_id":"c","generation_id":"g","workspace_roots":["/s"],"command":"env | sort","output":"` + word + `"}`,
		"opencode":    `{"hook":"event","directory":"/s","session":"s","input":{"type":"message.part.updated","properties":{"sessionID":"s","part":{"type":"tool","tool":"write","callID":"c","state":{"status":"completed","input":{"filePath":"/s/.env","content":"` + word + `"},"output":"` + word + `","title":"x"}}}}}`,
		"windsurf":    `{"cmemd_cwd":"/s","agent_action_name":"post_write_code","trajectory_id":"t","execution_id":"e","tool_info":{"file_path":"/s/.env","edits":[{"old_string":"","new_string":"` + word + `"}]}}`,
	} {
		agentName, _, _ := strings.Cut(name, " ")
		agent, err := agents.ByName(agentName)
		if err != nil {
			t.Fatal(err)
		}
		spool := relay.NewSpool(t.TempDir(), privacy.Keep)
		file, err := spool.Put(relay.Entry{Agent: agentName, Delivery: "0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b", Body: []byte(body)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		e, err := spool.Read(file)
		if err != nil || strings.Contains(string(e.Body), word) {
			t.Errorf("%s: %v %s", name, err, e.Body)
			continue
		}
		r, err := agent.Decode(e.Body, agents.Meta{})
		if err != nil || len(r.Captures) != 1 || !strings.Contains(r.Captures[0].Event.(events.ToolUsed).Input, "env") {
			t.Errorf("%s: %v, %+v of %s", name, err, r, e.Body)
		}
	}
}
