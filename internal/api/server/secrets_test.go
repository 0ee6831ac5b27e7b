package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/redact"
	"github.com/cmemd/cmemd/testkit/capturetest"
	"github.com/cmemd/cmemd/testkit/secrets"
)

// redacting is what a daemon takes secrets out with.
func redacting(c *testConfig) {
	r := redact.New()
	c.capture.Secrets = func(s string, json bool) (string, map[string]int) {
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
		if _, err := api.SaveRoute.Call(t.Context(), w.client, api.Memory{Title: "t " + s.Text, Text: "x\n" + s.Text, Files: []string{s.Text}}); err != nil {
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
		text := capturetest.JSON(t, e)
		for _, s := range all {
			if strings.Contains(text, s.Find) || strings.Contains(text, strings.Trim(capturetest.JSON(t, s.Find), `"`)) {
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

// ingest brings a transcript with a tool use that was given a secret and printed it.
func (w *world) ingest(tb testing.TB, s secrets.Secret, i int) {
	tb.Helper()
	lines := fmt.Sprintf(`{"type":"assistant","sessionId":"read%[2]d","cwd":"/w","uuid":"2","timestamp":"2025-01-02T03:04:06Z","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":%[1]s}}]}}
{"type":"user","uuid":"3","timestamp":"2025-01-02T03:04:07Z","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":%[1]s}]}}
`, capturetest.JSON(tb, s.Text), i)
	got, err := w.client.Ingest(tb.Context(), "claude-code", "", strings.NewReader(lines))
	if err != nil || got.Captured != 2 {
		tb.Fatalf("captured %+v: %v", got, err)
	}
}
