package cost

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
)

// Times is n tool uses: those of list, over and over, each with another result than the last time: what an agent sees again
// unchanged is not sent again.
func Times(list []events.ToolUsed, n int) []events.ToolUsed {
	all := make([]events.ToolUsed, 0, n)
	for i := range n {
		u := list[i%len(list)]
		u.Output = numbered(u.Output, i)
		all = append(all, u)
	}
	return all
}

// numbered is a result, JSON or text, with a number in it.
func numbered(result string, n int) string {
	switch {
	case strings.HasPrefix(result, `{"`):
		return fmt.Sprintf(`{"n":%d,%s`, n, result[1:])
	case strings.HasPrefix(result, `"`):
		return fmt.Sprintf(`"%d %s`, n, result[1:])
	}
	return fmt.Sprintf("%d %s", n, result)
}

// Payloads is 20 tool uses as a real client reports them: all that were captured in root's internal/agents/testdata/claude-code, and between
// them whole files of root being read, each another.
func Payloads(tb testing.TB, root string) []events.ToolUsed {
	tb.Helper()
	const all = 20
	payloads := find(tb, filepath.Join(root, "internal", "agents", "testdata", "claude-code", "PostToolUse*.json"))
	sources := find(tb, filepath.Join(root, "internal", "observer", "*.go"))
	var list []events.ToolUsed
	for i := 0; len(list) < all; i++ {
		if i < len(payloads) {
			list = append(list, decode(tb, read(tb, payloads[i]))...)
		}
		if i%2 == 0 || i >= len(payloads) {
			list = append(list, decode(tb, reading(tb, sources[i%len(sources)]))...)
		}
	}
	return list[:all]
}

// Transcripts is the tool uses of real sessions: those in the transcripts of Claude Code that pattern matches, in the order of
// their names.
func Transcripts(tb testing.TB, pattern string) (list []events.ToolUsed) {
	tb.Helper()
	for _, path := range find(tb, pattern) {
		f, err := os.Open(path)
		if err != nil {
			tb.Fatal(err)
		}
		defer f.Close()
		for c, err := range (agents.ClaudeCode{}).Transcript(f, path).Captures() {
			if bad := new(agents.LineError); err != nil && !errors.As(err, &bad) {
				tb.Fatal(err)
			}
			if u, ok := c.Event.(events.ToolUsed); ok && u.Unobserved == "" {
				list = append(list, u)
			}
		}
	}
	return list
}

func find(tb testing.TB, pattern string) []string {
	tb.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		tb.Fatalf("%s: %d files, %v", pattern, len(paths), err)
	}
	return paths
}

func read(tb testing.TB, path string) []byte {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// reading is the payload of a file that is read whole.
func reading(tb testing.TB, path string) []byte {
	tb.Helper()
	text := string(read(tb, path))
	b, err := json.Marshal(map[string]any{
		"session_id": "s", "transcript_path": "/home/dev/s.jsonl", "cwd": "/home/dev/project", "hook_event_name": "PostToolUse",
		"tool_name": "Read", "tool_use_id": "toolu_" + filepath.Base(path), "tool_input": map[string]any{"file_path": "/home/dev/project/" + filepath.Base(path)},
		"tool_response": map[string]any{"type": "text", "file": map[string]any{"filePath": "/home/dev/project/" + filepath.Base(path), "content": text, "startLine": 1}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// decode is what the daemon makes of a payload.
func decode(tb testing.TB, payload []byte) (list []events.ToolUsed) {
	tb.Helper()
	report, err := agents.ClaudeCode{}.Decode(payload, agents.Meta{Delivery: events.ID{1}, OccurredAt: time.Unix(1, 0)})
	if err != nil {
		tb.Fatal(err)
	}
	for _, c := range report.Captures {
		if u, ok := c.Event.(events.ToolUsed); ok && u.Unobserved == "" {
			list = append(list, u)
		}
	}
	return list
}
