package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/redact"
	"github.com/cmemd/cmemd/testkit/secrets"
)

// redacting is what a daemon takes secrets out with.
func redacting(c *Config) {
	r := redact.New()
	c.Secrets = func(s string, json bool) (string, map[string]int) {
		if json {
			return r.JSON(s)
		}
		return r.Text(s)
	}
}

// TestNoSecretIsRecorded brings each secret by hook, spool and transcript, and saves it: none is in the log, and each one
// that was captured is counted, also where the spool had taken it out.
func TestNoSecretIsRecorded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, redacting)
	all := secrets.Make(99)
	want := map[string]int{}
	for i, s := range all {
		w.post(t, toolUse("posted", fmt.Sprint("p", i), "echo "+s.Text, "x\n"+s.Text+"\ny"))
		w.spool(t, "claude-code", newID(), i, toolUse("spooled", fmt.Sprint("s", i), "ls", "x\n"+s.Text+"\ny"))
		if _, err := w.client.Save(t.Context(), api.Memory{Title: "t " + s.Text, Text: "x\n" + s.Text, Files: []string{s.Text}}); err != nil {
			t.Fatal(err)
		}
		w.ingest(t, s, i)
		want[s.Rule] += 2 + 1 + 2
	}
	eventually(t, "the spool is empty", func() bool { return w.waiting(t) == 0 })
	got := map[string]int{}
	for _, r := range w.records(t) {
		e, err := r.Event()
		if err != nil {
			t.Fatal(err)
		}
		text := asJSON(t, e)
		for _, s := range all {
			if strings.Contains(text, s.Find) || strings.Contains(text, strings.Trim(asJSON(t, s.Find), `"`)) {
				t.Errorf("%s: %q is in %s", s.Rule, s.Find, text)
			}
		}
		if u, ok := e.(events.ToolUsed); ok {
			for kind, n := range u.Redactions {
				got[kind] += n
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}
}

func asJSON(tb testing.TB, v any) string {
	tb.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

// ingest brings a transcript with a tool use that was given a secret and printed it.
func (w *world) ingest(tb testing.TB, s secrets.Secret, i int) {
	tb.Helper()
	lines := fmt.Sprintf(`{"type":"assistant","sessionId":"read%[2]d","cwd":"/w","uuid":"2","timestamp":"2025-01-02T03:04:06Z","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":%[1]s}}]}}
{"type":"user","uuid":"3","timestamp":"2025-01-02T03:04:07Z","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":%[1]s}]}}
`, asJSON(tb, s.Text), i)
	got, err := w.client.Ingest(tb.Context(), "claude-code", "", strings.NewReader(lines))
	if err != nil || got.Captured != 2 {
		tb.Fatalf("captured %+v: %v", got, err)
	}
}

// TestOriginsLoseTheirSecrets, but not the session's name.
func TestOriginsLoseTheirSecrets(t *testing.T) {
	t.Parallel()
	var c Config
	redacting(&c)
	s := secrets.Make(1)[0]
	o := session.Origin{
		Agent: "a", AgentSession: "id", Project: s.Text, ProjectRoot: "/r/" + s.Text, ProjectKey: "k/" + s.Text, Cwd: "/w/" + s.Text,
		GitRoot: "/g/" + s.Text, GitBranch: "b-" + s.Text, GitHead: "3943fd8c1f0a7b6e5d4c3b2a19081726354a5b6c", Transcript: "/t/" + s.Text + ".jsonl",
	}
	m := redact.Mark(s.Rule)
	want := session.Origin{
		Agent: "a", AgentSession: "id", Project: m, ProjectRoot: "/r/" + m, ProjectKey: "k/" + m, Cwd: "/w/" + m,
		GitRoot: "/g/" + m, GitBranch: "b-" + m, GitHead: o.GitHead, Transcript: "/t/" + m + ".jsonl",
	}
	if diff := cmp.Diff(want, c.plainOrigin(o)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := c.plainOrigin(want); got != want {
		t.Errorf("an origin without secrets became %+v", got)
	}
}

// TestCountsAreAdded to those of the event, which stays as it was where there is nothing to add.
func TestCountsAreAdded(t *testing.T) {
	t.Parallel()
	own, more := map[string]int{"a": 1}, map[string]int{"a": 2, "b": 1}
	both := map[string]int{"a": 3, "b": 1}
	for _, c := range []struct{ in, want events.Event }{
		{events.PromptSubmitted{}, events.PromptSubmitted{Redactions: more}},
		{events.PromptSubmitted{Redactions: own}, events.PromptSubmitted{Redactions: both}},
		{events.ToolUsed{Redactions: own}, events.ToolUsed{Redactions: both}},
		{events.AgentStopped{Redactions: own}, events.AgentStopped{Redactions: both}},
		{events.ContextCompacted{Redactions: own}, events.ContextCompacted{Redactions: both}},
		{events.SessionClosed{Cause: "x"}, events.SessionClosed{Cause: "x"}},
	} {
		if diff := cmp.Diff(c.want, withTaken(c.in, more)); diff != "" {
			t.Errorf("%T (-want +got):\n%s", c.in, diff)
		}
		if diff := cmp.Diff(c.in, withTaken(c.in, nil)); diff != "" {
			t.Errorf("%T, nothing to add:\n%s", c.in, diff)
		}
	}
	if !slices.Equal(slices.Sorted(maps.Keys(own)), []string{"a"}) || own["a"] != 1 {
		t.Errorf("the event's own counts were changed: %v", own)
	}
}
