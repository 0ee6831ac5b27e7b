package capturetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/google/uuid"
)

// Hook is a payload of Claude Code's for an event of a session, with more fields.
func Hook(event, session string, fields map[string]any) []byte {
	m := map[string]any{"hook_event_name": event, "session_id": session, "cwd": "/src/shop", "transcript_path": "/t.jsonl"}
	maps.Copy(m, fields)
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return b
}

// ToolUse is a payload for a shell command that has run.
func ToolUse(session, id, command, output string) []byte {
	return Hook("PostToolUse", session, map[string]any{
		"tool_name": "Bash", "tool_use_id": id, "tool_input": map[string]any{"command": command},
		"tool_response": map[string]any{"stdout": output, "stderr": "", "interrupted": false},
	})
}

// Transcript is n rounds of a prompt, a tool call and an answer, as Claude Code writes them down.
func Transcript(session string, n int) []byte {
	var b bytes.Buffer
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	line := func(kind string, more map[string]any) {
		at = at.Add(time.Second)
		m := map[string]any{
			"type": kind, "sessionId": session, "cwd": "/src/shop", "uuid": uuid.NewString(), "gitBranch": "old",
			"timestamp": at.Format(time.RFC3339Nano), "userType": "external", "isSidechain": false,
		}
		maps.Copy(m, more)
		_ = json.NewEncoder(&b).Encode(m) // maps of strings always encode
	}
	for i := range n {
		id := fmt.Sprintf("toolu_%s_%d", session, i)
		line("user", map[string]any{"promptId": uuid.NewString(), "message": map[string]any{"role": "user", "content": fmt.Sprint("do number ", i)}})
		line("assistant", map[string]any{"message": map[string]any{"role": "assistant", "stop_reason": "tool_use", "content": []any{
			map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": fmt.Sprint("make ", i)}},
		}}})
		line("user", map[string]any{"message": map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "tool_result", "tool_use_id": id, "content": "ok"},
		}}})
		line("assistant", map[string]any{"message": map[string]any{"role": "assistant", "stop_reason": "end_turn", "content": []any{
			map[string]any{"type": "text", "text": fmt.Sprint("did number ", i)},
		}}})
	}
	return b.Bytes()
}

// JSON is v as text.
func JSON(tb testing.TB, v any) string {
	tb.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}
