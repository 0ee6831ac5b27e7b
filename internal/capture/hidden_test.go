package capture

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/capture/privacy"
	"github.com/cmemd/cmemd/internal/ignore"
	"github.com/cmemd/cmemd/testkit/capturetest"
)

// TestHiddenSessionsAreCounted: of a session that an ignore file hides it is on record that it was hidden, by which file and how
// much, and no word of it; of others nothing is.
func TestHiddenSessionsAreCounted(t *testing.T) {
	t.Parallel()
	clone := t.TempDir()
	file := filepath.Join(clone, ignore.File)
	capturetest.WriteFile(t, file, []byte("*\n"))
	w := newWorld(t, func(c *Config) { c.Rules = privacy.NewRules(c.Home, privacy.Switches{}) })
	of := func(session, cwd string) [][]byte {
		return [][]byte{
			hook("SessionStart", session, map[string]any{"cwd": cwd, "source": "startup"}),
			hook("UserPromptSubmit", session, map[string]any{"cwd": cwd, "prompt": unsaid}),
			hook("UserPromptSubmit", session, map[string]any{"cwd": cwd, "prompt": unsaid + " again"}),
		}
	}
	told := func() (all []events.CaptureHidden) {
		for e, err := range eventlog.Events[events.CaptureHidden](t.Context(), w.log, events.Daemon, 1) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, e.Event)
		}
		return all
	}
	start, err := w.client.Hook(t.Context(), "claude-code", of("ends", clone)[0], newID(), time.Time{})
	if err != nil || !start.HiddenStart || start.HiddenBy != file {
		t.Fatalf("at its start it is hidden by %q, %t, %v", start.HiddenBy, start.HiddenStart, err)
	}
	w.post(t, of("ends", clone)[1:]...)
	w.post(t, of("stays", clone)...)
	w.post(t, of("open", t.TempDir())...)
	if all := told(); len(all) != 2 || all[0].Count != 1 || all[0].File != file || all[0].Agent != "claude-code" {
		t.Fatalf("before an end there is on record %+v", all)
	}
	if found, err := w.pipeline.Hidden(t.Context(), time.Time{}); err != nil || len(found) != 2 || found[1].Count < 3 {
		t.Errorf("hidden are %+v, %v", found, err)
	}
	w.post(t, hook("SessionEnd", "ends", map[string]any{"cwd": clone, "reason": "exit"}))
	w.pipeline.RecordHidden(t.Context())
	counts := map[events.SessionID]int{}
	for _, is := range told() {
		counts[is.Session] = is.Count
	}
	ends, stays := events.SessionIDOf("claude-code", "ends"), events.SessionIDOf("claude-code", "stays")
	if len(counts) != 2 || counts[ends] < 4 || counts[stays] < 3 {
		t.Errorf("on record are the counts %v", counts)
	}
	if w.count(t, events.KindSessionOpened) != 1 {
		t.Error("a hidden session is on record")
	}
}
