package agents

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/redact"
	"github.com/cmemd/cmemd/testkit/secrets"
)

// The words that no capture of these tests may hold.
const unsaid = "my salary is"

// privateLines are lines of a file as agents list them in a patch, of which some are private, and some are a key.
func privateLines(t *testing.T) (lines []string, key secrets.Secret) {
	t.Helper()
	for _, s := range secrets.Make(21) {
		if s.Rule == "private-key" {
			key = s
		}
	}
	lines = []string{" a", "+<private>", "+" + unsaid + " 90000", "+</private>", "-before the key"}
	for line := range strings.Lines(key.Text) {
		lines = append(lines, "+"+strings.TrimSuffix(line, "\n"))
	}
	return append(lines, " after the key"), key
}

// TestLinesOfAPatch: what is private, or a key, over several strings of a list is recorded of no agent, by no door.
func TestLinesOfAPatch(t *testing.T) {
	t.Parallel()
	lines, key := privateLines(t)
	listed, _ := json.Marshal(map[string]any{"structuredPatch": []any{map[string]any{"lines": lines}}})
	inner, _ := json.Marshal(string(listed)) // Marshal writes < as \u003c: quoted, the escape is a text
	parts := fmt.Sprintf(`[{"type":"text","text":%s}]`, inner)
	meta := Meta{Delivery: events.ID{1}, OccurredAt: time.Unix(1e9, 0), Redact: redacting()}
	for name, value := range map[string]string{"list": string(listed), "quoted": string(inner), "part": parts} {
		for where, body := range map[string]string{
			"output": `"tool_input":{"file_path":"/w/a"},"tool_response":%s`, "input": `"tool_input":{"x":%s},"tool_response":{}`,
		} {
			body = fmt.Sprintf(`{"session_id":"s","cwd":"/w","hook_event_name":"PostToolUse","tool_name":"Edit",`+body+`}`, value)
			r, err := ClaudeCode{}.Decode([]byte(body), meta)
			if err != nil || len(r.Captures) != 1 {
				t.Fatalf("%s, %s: %v, %d captures", name, where, err, len(r.Captures))
			}
			e := r.Captures[0].Event.(events.ToolUsed)
			checkLines(t, name+", "+where, e.Input+e.Output, key)
			if n := e.Redactions["private-key"]; n != 1 {
				t.Errorf("%s, %s: counted %v", name, where, e.Redactions)
			}
		}
		if name == "quoted" {
			continue // an import has the text itself
		}
		texts := NewTexts(redacting())
		kept, size := texts.tool(value)
		checkLines(t, name+", imported", kept, key)
		if size == 0 || texts.v.found["private-key"] != 1 {
			t.Errorf("%s, imported: %d bytes, found %v", name, size, texts.v.found)
		}
	}
}

func checkLines(t *testing.T, where, kept string, key secrets.Secret) {
	t.Helper()
	for line := range strings.Lines(key.Text) {
		if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "--") && strings.Contains(kept, line) {
			t.Errorf("%s holds %q of a key: %s", where, line, kept)
		}
	}
	if strings.Contains(kept, unsaid) || !strings.Contains(kept, "before the key") || !strings.Contains(kept, "after the key") {
		t.Errorf("%s became %s", where, kept)
	}
	if !strings.Contains(kept, redact.Mark("private-key")) {
		t.Errorf("%s has no mark: %s", where, kept)
	}
}

// TestLinesInATranscript: so does what a transcript tells.
func TestLinesInATranscript(t *testing.T) {
	t.Parallel()
	lines, key := privateLines(t)
	listed, _ := json.Marshal(map[string]any{"structuredPatch": []any{map[string]any{"lines": lines}}})
	text := fmt.Sprintf(`{"type":"assistant","sessionId":"s","cwd":"/w","uuid":"2","timestamp":"2025-01-02T03:04:06Z","message":{"content":[{"type":"tool_use","id":"t","name":"Edit","input":{"file_path":"/w/a"}}]}}
{"type":"user","uuid":"3","timestamp":"2025-01-02T03:04:07Z","toolUseResult":%s,"message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}}
`, listed)
	tr := ClaudeCode{}.Transcript(strings.NewReader(text), "/t/s.jsonl")
	tr.Redact = redacting()
	n := 0
	for c, err := range tr.Captures() {
		if err != nil {
			t.Fatal(err)
		}
		if u, ok := c.Event.(events.ToolUsed); ok {
			checkLines(t, "transcript", u.Output, key)
			n++
		}
	}
	if n != 1 {
		t.Errorf("captured %d", n)
	}
}
