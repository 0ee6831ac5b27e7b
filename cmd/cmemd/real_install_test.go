package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/testkit/socket"
)

// TestRealClientTakesThePlugin has Claude Code itself check the plugin, as strictly as it can: as the repository has it, and as
// it is installed.
func TestRealClientTakesThePlugin(t *testing.T) {
	t.Parallel()
	w := newPersonsWorld(t, "claude", realClaude(t), "")
	carried, err := filepath.Abs(filepath.Join("..", "..", "internal", "agents", "install", "plugin"))
	if err != nil {
		t.Fatal(err)
	}
	w.install()
	for _, dir := range []string{carried, filepath.Join(w.home, "install", "claude-code")} {
		for _, part := range []string{"", "cmemd"} {
			if out := w.ran("claude", "plugin", "validate", "--strict", filepath.Join(dir, part)); !strings.Contains(out, "Validation passed") {
				t.Errorf("%s: %s", dir, out)
			}
		}
	}
	if out := w.ran("claude", "mcp", "list"); !strings.Contains(out, "plugin:cmemd:cmemd") || !strings.Contains(out, "Connected") {
		t.Errorf("the server of the plugin does not answer: %s", out)
	}
}

// TestRealClientRemembers has Claude Code itself work with cmemd installed in each way: every event is captured, memory reaches
// the model, and a removal leaves the settings as they were, byte for byte.
func TestRealClientRemembers(t *testing.T) {
	t.Parallel()
	client := realClaude(t)
	for name, args := range map[string][]string{
		"plugin": nil, "settings": {"--settings"}, "plugin, http": {"--http"}, "settings, http": {"--settings", "--http"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listen := ""
			if slices.Contains(args, "--http") {
				listen = socket.FreeAddress(t)
			}
			w := newPersonsWorld(t, "claude", client, listen)
			before := w.settings("{\r\n\t\"cleanupPeriodDays\": 10,\r\n\t\"hooks\": {}\r\n}")
			w.ran("cmemd", "save", "Deploys of the marmalade cart go out on Tuesdays")
			w.install(args...)
			s := w.session("Mend the cart of marmalade")
			w.checkSeen(s)
			w.checkTokenKept()
			w.uses, w.stops = 2, 1
			w.await("the end of the session", func(st api.Status) bool { return st.Inputs.Captured >= 3 })
			w.ran("cmemd", "uninstall", "--yes")
			if diff := cmp.Diff(before, w.files()); diff != "" {
				t.Errorf("-before +after:\n%s", diff)
			}
			w.checkCapturedOf(w.end(), 2, 1)
		})
	}
}

// TestRealClientForgetsAnUpgrade: what a person changed between an installation and an upgrade stays, and Claude Code itself
// knows nothing of cmemd any more after a removal.
func TestRealClientForgetsAnUpgrade(t *testing.T) {
	t.Parallel()
	w := newPersonsWorld(t, "claude", realClaude(t), "")
	w.settings(`{"cleanupPeriodDays": 30}`)
	settings := filepath.Join(w.person, ".claude", "settings.json")
	w.install()
	text, err := os.ReadFile(settings)
	if err != nil || !bytes.Contains(text, []byte("30")) {
		t.Fatalf("%v: %s", err, text)
	}
	if err := os.WriteFile(settings, bytes.Replace(text, []byte("30"), []byte("31"), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	w.install("--no-mcp")
	w.ran("cmemd", "uninstall", "--yes")
	if diff := cmp.Diff(map[string]string{"/.claude/settings.json": "{\n  \"cleanupPeriodDays\": 31\n}\n"}, w.files()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if out := w.ran("claude", "plugin", "marketplace", "list"); strings.Contains(out, "cmemd") {
		t.Errorf("the client still knows it: %s", out)
	}
}

// settings gives the person settings, and returns what is there.
func (w *personsWorld) settings(text string) map[string]string {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Join(w.person, ".claude"), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.person, ".claude", "settings.json"), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
	return w.files()
}

// files is what of the person's home cmemd, or the client at its word, may have changed.
func (w *personsWorld) files() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{"settings.json", "plugins/*.json", "plugins/cache/*", "plugins/marketplaces/*"} {
		found, err := filepath.Glob(filepath.Join(w.person, ".claude", filepath.FromSlash(pattern)))
		if err != nil {
			w.t.Fatal(err)
		}
		for _, path := range found {
			text, err := os.ReadFile(path)
			if err != nil {
				text = []byte("folder")
			}
			all[strings.TrimPrefix(path, w.person)] = string(text)
		}
	}
	return all
}

// checkSeen wants the hooks that the client tells of, all well, and the memory in what the model was asked.
func (w *personsWorld) checkSeen(s seen) {
	w.t.Helper()
	if !strings.Contains(s.result, "one lock of marmalade") {
		w.t.Errorf("the session ended with %q", s.result)
	}
	count := map[string]int{}
	for _, h := range s.hooks {
		count[h.Event]++
		w.t.Logf("%-20s %s", h.Event, h.took.Round(100*time.Microsecond))
		if h.Outcome != "success" {
			w.t.Errorf("%s: %s, %s %s", h.Event, h.Outcome, h.Output, h.Said)
		}
	}
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop"} {
		if count[event] != 1 {
			w.t.Errorf("%s ran %d times, want once (%v)", event, count[event], slices.Sorted(maps.Keys(count)))
		}
	}
	asked := w.model.questions()
	if len(asked) != 3 || !strings.Contains(asked[0], "go out on Tuesdays") {
		w.t.Errorf("the model was asked %d times, and not given the memory", len(asked))
	}
}

// checkTokenKept wants the token, where one was written, in no file that others may read.
func (w *personsWorld) checkTokenKept() {
	w.t.Helper()
	token, err := os.ReadFile(homedir.PathsOf(w.home).Token)
	if err != nil {
		w.t.Fatal(err)
	}
	err = filepath.WalkDir(w.person, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, bytes.TrimSpace(token)) {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			w.t.Errorf("%s holds the token, and others may read it (%s)", path, info.Mode())
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// checkCapturedOf wants each thing that happened in the log, once: tools were used, and some of them failed.
func (w *personsWorld) checkCapturedOf(all []logged, tools, broken int) {
	w.t.Helper()
	count := map[string]int{}
	failed := 0
	for _, e := range all {
		switch e := e.event.(type) {
		case events.SessionOpened, events.PromptSubmitted, events.AgentSaid, events.AgentStopped, events.SessionClosed, events.ContextInjected:
			count[fmt.Sprintf("%T", e)]++
		case events.ToolUsed:
			count[fmt.Sprintf("%T", e)]++
			if e.Failed {
				failed++
			}
		}
	}
	want := map[string]int{
		"events.SessionOpened": 1, "events.PromptSubmitted": 1, "events.ToolUsed": tools, "events.AgentStopped": 1, "events.SessionClosed": 1,
		"events.ContextInjected": 1, "events.AgentSaid": tools,
	}
	if diff := cmp.Diff(want, count); diff != "" {
		w.t.Errorf("-want +got:\n%s", diff)
	}
	if failed != broken {
		w.t.Errorf("%d tools failed, want %d", failed, broken)
	}
}
