package capture

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
)

// TestAServerOfTheSameName: a tool that goes by this memory's name is its own only if it answered one shortly before, or nobody can tell.
func TestAServerOfTheSameName(t *testing.T) {
	t.Parallel()
	began := time.Now().Add(-time.Hour)
	var now atomic.Int64
	set := func(after time.Duration) time.Time { now.Store(int64(after)); return began.Add(after) }
	w := newWorld(t, func(c *Config) { c.Now = func() time.Time { return began.Add(time.Duration(now.Load())) } })
	n := 0
	own := func(at time.Time, tool, input string) bool {
		t.Helper()
		n++
		body := fmt.Appendf(nil, `{"hook_event_name":"PostToolUse","session_id":"s","cwd":"/src/shop","tool_name":%q,"tool_use_id":"t%d","tool_input":%s,"tool_response":"policy"}`, tool, n, input)
		if _, err := w.client.Hook(t.Context(), "claude-code", body, newID(), at); err != nil {
			t.Fatal(err)
		}
		for _, r := range slices.Backward(w.records(t)) {
			if e, err := r.Event(); err != nil {
				t.Fatal(err)
			} else if used, ok := e.(events.ToolUsed); ok {
				return used.Unobserved == "own"
			}
		}
		t.Fatal("no tool use is recorded")
		return false
	}
	search := func(at time.Time) bool { t.Helper(); return own(at, "mcp__cmemd__search", `{"query":"team"}`) }
	for _, c := range []struct {
		name string
		own  bool
		want bool
	}{
		{"the daemon began too shortly before", search(set(30 * time.Second)), true},
		{"nothing was answered", search(set(5 * time.Minute)), false},
		{"and no resource was read", own(set(5*time.Minute), "ReadMcpResource", `{"server":"cmemd","uri":"cmemd://m1"}`), false},
		{"the command needs no answer here", own(set(5*time.Minute), "Bash", `{"command":"cmemd search team"}`), true},
	} {
		if c.own != c.want {
			t.Errorf("%s: own %t, want %t", c.name, c.own, c.want)
		}
	}
	set(6 * time.Minute)
	w.pipeline.AnswersTool()
	if !search(set(6*time.Minute + 20*time.Second)) {
		t.Error("a tool was answered 20 s before, and its call is taken for another's")
	}
	if search(set(8 * time.Minute)) {
		t.Error("nothing was answered for 2 min, and a call is taken for this memory's")
	}
}
