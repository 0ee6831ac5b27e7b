package capture

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/capture/privacy"
	"github.com/cmemd/cmemd/internal/ignore"
	"github.com/cmemd/cmemd/testkit/capturetest"
)

// TestNothingPrivateIsRecorded brings what the rules leave out by hook and by transcript: of some nothing is recorded, of
// others that it happened.
func TestNothingPrivateIsRecorded(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	capturetest.WriteFile(t, filepath.Join(project, ignore.File), []byte("hidden/\n"))
	w := newWorld(t, func(c *Config) {
		c.Rules = privacy.NewRules(c.Home, privacy.Switches{SkipTools: []string{"WebSearch"}, SkipAgents: []string{"codex"}})
	})
	const word = "correct-horse-battery"
	hidden := filepath.Join(project, "hidden")
	uses := []struct {
		name, tool string
		input      map[string]any
		kept       string // of the input; empty: nothing is recorded
	}{
		{"a dotenv file", "Write", map[string]any{"file_path": project + "/.env", "content": word}, project + "/.env"},
		{"a key", "Read", map[string]any{"file_path": "/k/id_rsa"}, "/k/id_rsa"},
		{"a command that reads one", "Bash", map[string]any{"command": "cat .env"}, "cat .env"},
		{"a command that writes one", "Bash", map[string]any{"command": "echo " + word + " | tee .env"}, "left out"},
		{"the environment", "Bash", map[string]any{"command": "printenv"}, "printenv"},
		{"an ignored file", "Read", map[string]any{"file_path": hidden + "/x"}, ""},
		{"a skipped tool", "WebSearch", map[string]any{"query": word}, ""},
	}
	want := 0
	for i, u := range uses {
		id := fmt.Sprint("posted", i)
		w.post(t, hook("PostToolUse", "s", map[string]any{
			"cwd": project, "tool_name": u.tool, "tool_use_id": id, "tool_input": u.input, "tool_response": map[string]any{"stdout": word},
		}))
		lines := fmt.Sprintf(`{"type":"assistant","sessionId":"read%[1]d","cwd":%[2]s,"uuid":"2","timestamp":"2025-01-02T03:04:06Z","message":{"content":[{"type":"tool_use","id":"t%[1]d","name":"%[3]s","input":%[4]s}]}}
{"type":"user","uuid":"3","timestamp":"2025-01-02T03:04:07Z","message":{"content":[{"type":"tool_result","tool_use_id":"t%[1]d","content":"%[5]s"}]}}
`, i, capturetest.JSON(t, project), u.tool, capturetest.JSON(t, u.input), word)
		got, err := w.client.Ingest(t.Context(), "claude-code", "", strings.NewReader(lines))
		if err != nil || (got.Skipped["private"] > 0) != (u.kept == "") {
			t.Errorf("%s: %+v, %v", u.name, got, err)
		}
		if u.kept != "" {
			want += 2
		}
	}
	for _, cwd := range []string{w.home, w.home + "/run/claude-cli", hidden} {
		got, err := w.client.Hook(t.Context(), "claude-code", hook("SessionStart", "ignored", map[string]any{"cwd": cwd, "source": "startup"}), newID(), time.Time{})
		if err != nil || got.Report.Wants != agents.WantNone {
			t.Errorf("in %s: memory is wanted at %s, %v", cwd, got.Report.Wants, err)
		}
		w.post(t, hook("UserPromptSubmit", "ignored", map[string]any{"cwd": cwd, "prompt": word, "prompt_id": "p"}))
	}
	if _, err := w.client.Hook(t.Context(), "codex", hook("UserPromptSubmit", "ignored", map[string]any{"prompt": word}), newID(), time.Time{}); err != nil {
		t.Error(err)
	}
	got := 0
	for _, r := range w.records(t) {
		e, err := r.Event()
		if err != nil {
			t.Fatal(err)
		}
		text := capturetest.JSON(t, e)
		if strings.Contains(text, word) || strings.Contains(text, hidden) || strings.Contains(text, `"ignored"`) || strings.Contains(text, "WebSearch") {
			t.Errorf("recorded: %s", text)
		}
		u, ok := e.(events.ToolUsed)
		if !ok {
			continue
		}
		got++
		if len(u.Redactions) != 1 || !strings.HasPrefix(u.Output, "[cmemd: left out: ") {
			t.Errorf("%s: counted %v, output %q", u.Input, u.Redactions, u.Output)
		}
		for i, one := range uses {
			if u.ToolUseID == fmt.Sprint("posted", i) && !strings.Contains(u.Input, one.kept) {
				t.Errorf("%s: got %s", one.name, u.Input)
			}
		}
	}
	if got != want {
		t.Errorf("%d tool uses are recorded, want %d", got, want)
	}
}

// TestAPublicUseStaysAsItIs: a tool use of which nothing is left out is not made anew.
func TestAPublicUseStaysAsItIs(t *testing.T) {
	c, rules := session.Capture{Event: events.ToolUsed{Tool: "Read"}}, &privacy.Rules{}
	n := testing.AllocsPerRun(20, func() {
		if _, why := public(c, rules); why != "" {
			t.Errorf("nothing of it is recorded: %s", why)
		}
	})
	if n > 1 { // to read the command
		t.Errorf("%.0f allocations, want 1", n)
	}
}
