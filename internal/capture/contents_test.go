package capture

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/internal/capture/privacy"
	"github.com/cmemd/cmemd/internal/ignore"
)

// plantedWord stands where contents of private files do. It has no shape of a secret.
const plantedWord = "correct-horse-battery"

// noSink takes nothing.
type noSink struct{}

func (noSink) Do(context.Context, events.SessionID, ...session.Command) (actors.Receipt, error) {
	return actors.Receipt{}, errors.New("nothing is taken")
}

// decoded is what a delivery of an agent becomes under the rules of a home; the settings are those of its rules.
func decoded(t *testing.T, agent string, e spool.Entry, s privacy.Switches) (Accepted, error) {
	t.Helper()
	cfg := config(t)
	cfg.Sink, cfg.Rules = noSink{}, privacy.NewRules(cfg.Home, s)
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	e.Agent, e.OccurredAt = agent, time.Now()
	return p.decode(t.Context(), delivery{e, uuid.Must(uuid.NewV7())})
}

// TestNoAgentsContentsAreRecorded plants a word where each agent says what it wrote into a dotenv file, or what it read there.
func TestNoAgentsContentsAreRecorded(t *testing.T) {
	t.Parallel()
	const word = plantedWord
	claude := func(tool, input, response string) string {
		return `{"hook_event_name":"PostToolUse","session_id":"s","cwd":"/s","tool_name":"` + tool + `","tool_use_id":"t","tool_input":` + input + `,"tool_response":` + response + `}`
	}
	for name, body := range map[string]string{
		"claude-code writes":      claude("Write", `{"file_path":"/s/.env","content":"`+word+`"}`, `{"filePath":"/s/.env","content":"`+word+`"}`),
		"claude-code edits":       claude("Edit", `{"file_path":"/s/.env","old_string":"a","new_string":"b"}`, `{"filePath":"/s/.env","originalFile":"`+word+`","userModified":false}`),
		"claude-code reads":       claude("Read", `{"file_path":"/s/.env"}`, `{"type":"text","file":{"filePath":"/s/.env","content":"`+word+`"}}`),
		"claude-code cat":         claude("Bash", `{"command":"cat .env"}`, `{"stdout":"`+word+`","stderr":""}`),
		"claude-code echo":        claude("Bash", `{"command":"echo `+word+` > .env","description":"`+word+`"}`, `""`),
		"claude-code environment": claude("Bash", `{"command":"env"}`, `{"stdout":"A=`+word+`"}`),
		"claude-code other":       claude("x", `{"path":".env"}`, `{"file":"`+word+`","path":"`+word+`"}`),
		"codex patch":             `{"hook_event_name":"PostToolUse","session_id":"s","cwd":"/s","tool_name":"apply_patch","tool_use_id":"t","tool_input":{"command":"*** Begin Patch\n*** Add File: .env\n+` + word + `\n*** End Patch"},"tool_response":"` + word + `"}`,
		"codex shell":             `{"hook_event_name":"PostToolUse","session_id":"s","cwd":"/s","tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"cat .env"},"tool_response":"` + word + `"}`,
		"gemini-cli":              `{"hook_event_name":"AfterTool","session_id":"s","cwd":"/s","tool_name":"write_file","tool_input":{"file_path":"/s/.env","content":"` + word + `"},"tool_response":{"llmContent":"` + word + `","returnDisplay":{"fileDiff":"+` + word + `"}}}`,
		"cursor":                  `{"hook_event_name":"afterFileEdit","conversation_id":"c","generation_id":"g","workspace_roots":["/s"],"file_path":"/s/.env","edits":[{"old_string":"` + word + `","new_string":"` + word + `"}]}`,
		"cursor run":              `{"hook_event_name":"afterShellExecution","conversation_id":"c","generation_id":"g","workspace_roots":["/s"],"command":"env | sort","output":"` + word + `"}`,
		"cursor reads by MCP":     `{"hook_event_name":"afterMCPExecution","conversation_id":"c","generation_id":"g","workspace_roots":["/s"],"tool_name":"read","tool_input":"{\"path\":\"/a/.env\"}","result_json":"{\"content\":[{\"type\":\"text\",\"text\":\"` + word + `\"}]}"}`,
		"cursor writes by MCP":    `{"hook_event_name":"afterMCPExecution","conversation_id":"c","generation_id":"g","workspace_roots":["/s"],"tool_name":"write","tool_input":"{\"path\":\".env\",\"data\":\"` + word + `\"}","result_json":"{}"}`,
		"opencode":                `{"hook":"event","directory":"/s","session":"s","input":{"type":"message.part.updated","properties":{"sessionID":"s","part":{"type":"tool","tool":"write","callID":"c","state":{"status":"completed","input":{"filePath":"/s/.env","content":"` + word + `"},"output":"` + word + `","title":"x"}}}}}`,
		"windsurf":                `{"cmemd_cwd":"/s","agent_action_name":"post_write_code","trajectory_id":"t","execution_id":"e","tool_info":{"file_path":"/s/.env","edits":[{"old_string":"","new_string":"` + word + `"}]}}`,
		"raw arguments":           `{"event":"tool","session":"s","cwd":"/s","tool":"call","input":{"arguments":"{\"path\":\".env\"}"},"output":"` + word + `"}`,
		"raw shell":               `{"event":"tool","session":"s","cwd":"/s","tool":"shell","input":{"command":"cat work","workdir":"/root/.ssh"},"output":"` + word + `"}`,
	} {
		agent, _, _ := strings.Cut(name, " ")
		a, err := decoded(t, agent, spool.Entry{Body: []byte(body)}, privacy.Switches{})
		if err != nil || len(a.Report.Captures) != 1 {
			t.Errorf("%s: %d captures, %v", name, len(a.Report.Captures), err)
			continue
		}
		use := a.Report.Captures[0].Event.(events.ToolUsed)
		if text := use.Input + use.Output; strings.Contains(text, word) || !strings.Contains(text, "env") && !strings.Contains(text, ".ssh") || len(use.Redactions) == 0 {
			t.Errorf("%s: recorded %s, %s, %v", name, use.Input, use.Output, use.Redactions)
		}
	}
}

// TestOutputsLoseTheirLines where what came of a tool use alone gives contents away.
func TestOutputsLoseTheirLines(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	if err := os.WriteFile(filepath.Join(project, ignore.File), []byte("secret/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for output, kind := range map[string]string{`x.go:1:kept\nsecret/a:1:` + plantedWord: privacy.LeftIgnored, `kept\n.env:1:` + plantedWord: privacy.LeftFile} {
		body := fmt.Sprintf(`{"hook_event_name":"PostToolUse","session_id":"s","cwd":%q,"tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"git diff"},"tool_response":{"stdout":"%s"}}`, project, output)
		a, err := decoded(t, "claude-code", spool.Entry{Body: []byte(body)}, privacy.Switches{})
		if err != nil || len(a.Report.Captures) != 1 {
			t.Fatalf("%s: %d captures, %v", output, len(a.Report.Captures), err)
		}
		use := a.Report.Captures[0].Event.(events.ToolUsed)
		if strings.Contains(use.Output, plantedWord) || !strings.Contains(use.Output, "kept") || use.Redactions[kind] != 1 {
			t.Errorf("%s: recorded %s, %v", output, use.Output, use.Redactions)
		}
	}
}

// TestNothingOfItIsRecorded of skipped tools and agents, of ignored files and folders, and of cmemd's own home.
func TestNothingOfItIsRecorded(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	if err := os.WriteFile(filepath.Join(project, ignore.File), []byte("hidden/"), 0o600); err != nil {
		t.Fatal(err)
	}
	use := func(tool, input string) string {
		return fmt.Sprintf(`{"hook_event_name":"PostToolUse","session_id":"s","cwd":%q,"tool_name":"%s","tool_use_id":"t","tool_input":%s,"tool_response":"x"}`, project, tool, input)
	}
	for name, c := range map[string]struct {
		agent, body string
	}{
		"an ignored file":    {"claude-code", use("Read", `{"file_path":"`+project+`/hidden/x"}`)},
		"a skipped tool":     {"claude-code", use("WebSearch", `{"query":"x"}`)},
		"a skipped agent":    {"codex", use("Read", `{"file_path":"/a"}`)},
		"an ignored project": {"claude-code", fmt.Sprintf(`{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":%q,"prompt":"x"}`, filepath.Join(project, "hidden"))},
	} {
		a, err := decoded(t, c.agent, spool.Entry{Body: []byte(c.body)}, privacy.Switches{SkipTools: []string{"WebSearch"}, SkipAgents: []string{"codex"}})
		if err != nil || len(a.Report.Captures) != 0 {
			t.Errorf("%s: %d captures, %v", name, len(a.Report.Captures), err)
		}
	}
}

// TestIgnoreFilesOfThen: what an ignore file named when the hook was called is ignored, and what one names now is.
func TestIgnoreFilesOfThen(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	if err := os.WriteFile(filepath.Join(project, ignore.File), []byte("now/"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, recorded := range map[string]int{"now/x": 0, "then/x": 0, "other/x": 1} {
		body := fmt.Sprintf(`{"hook_event_name":"PostToolUse","session_id":"s","cwd":%q,"tool_name":"Read","tool_use_id":"t","tool_input":{"file_path":%q},"tool_response":"x"}`, project, filepath.Join(project, file))
		e := spool.Entry{Body: []byte(body), Ignore: []ignore.Source{{Folder: project, Text: "then/"}}}
		if a, err := decoded(t, "claude-code", e, privacy.Switches{}); err != nil || len(a.Report.Captures) != recorded {
			t.Errorf("%s: %d captures, %v; want %d", file, len(a.Report.Captures), err, recorded)
		}
	}
	body := fmt.Sprintf(`{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":%q,"prompt":"x"}`, project)
	all := spool.Entry{Body: []byte(body), Ignore: []ignore.Source{{Folder: project, Text: "*"}}}
	if a, err := decoded(t, "claude-code", all, privacy.Switches{}); err != nil || len(a.Report.Captures) != 0 {
		t.Errorf("where all was ignored: %d captures, %v", len(a.Report.Captures), err)
	}
}
