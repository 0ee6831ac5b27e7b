package capture

import (
	"os"
	"strings"
	"testing"
	"time"
)

// TestLastReported: hooks count, posted and from the spool, the latest of them, and transcripts do not. A daemon that starts again
// has not forgotten.
func TestLastReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	reported := func(agent string) time.Time {
		t.Helper()
		at, err := LastReported(w.home, agent)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	line := `{"type":"user","sessionId":"old","uuid":"u1","timestamp":"2026-01-02T03:04:05Z","cwd":"/src/shop","message":{"role":"user","content":"Look"}}` + "\n"
	if got, err := w.client.Ingest(t.Context(), "claude-code", "/t/old.jsonl", strings.NewReader(line)); err != nil || got.Captured == 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	if at := reported("claude-code"); !at.IsZero() {
		t.Errorf("a transcript counts as a hook at %s", at)
	}
	called := time.Now().Add(-time.Hour)
	post := func(at time.Time) {
		t.Helper()
		if _, err := w.client.Hook(t.Context(), "claude-code", toolUse("s", newID().String(), "ls", "a"), newID(), at); err != nil {
			t.Fatal(err)
		}
	}
	post(called)
	post(called.Add(-time.Minute)) // it comes later, and was called before
	if at := reported("claude-code"); !at.Equal(called) {
		t.Errorf("posted: got %s, want %s", at, called)
	}
	w.spool(t, "codex", newID(), 7, hook("Stop", "c", map[string]any{"turn_id": "1"}))
	eventually(t, "the spool to be taken in", func() bool { return w.waiting(t) == 0 })
	if at := reported("codex"); !at.Equal(time.Date(2026, 11, 20, 10, 0, 7, 0, time.UTC)) {
		t.Errorf("from the spool: got %s", at)
	}
	future := time.Now().Add(24 * time.Hour)
	if err := os.Chtimes(reportedPath(w.home, "claude-code"), future, future); err != nil {
		t.Fatal(err)
	}
	called = called.Add(notedEvery)
	post(called)
	if at := reported("claude-code"); !at.Equal(called) {
		t.Errorf("after a clock that was wrong: got %s, want %s", at, called)
	}
}
