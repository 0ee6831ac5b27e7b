package install

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// settingsOf is the file of an agent into which its hooks, or else its server, go.
func settingsOf() map[string]string {
	return map[string]string{
		"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini-cli": ".gemini/settings.json",
		"cursor": ".cursor/hooks.json", "windsurf": ".codeium/windsurf/hooks.json", "opencode": ".config/opencode/opencode.json",
		"claude-desktop": ".config/Claude/claude_desktop_config.json", "vscode": ".config/Code/User/mcp.json", "zed": ".config/zed/settings.json",
	}
}

// shapes are settings as people have them.
func shapes() map[string]string {
	return map[string]string{
		"empty":       "",
		"blank":       "\n\n",
		"an object":   "{}\n",
		"of lines":    "{\n}\n",
		"no line end": "{\n  \"model\": \"opus\"\n}",
		"comments":    "// mine\n{\n  // the model\n  \"model\": \"opus\", // best\n  /* more */ \"theme\": \"dark\" // last\n}\n",
		"last comma":  "{\n  \"model\": \"opus\",\n}\n",
		"CRLF":        "{\r\n    \"model\": \"opus\",\r\n    \"list\": [\r\n        1\r\n    ]\r\n}\r\n",
		"a mark":      "\ufeff{\n  \"model\": \"opus\"\n}\n",
		"tabs":        "{\n\t\"model\": \"opus\",\n\t\"env\": {\n\t\t\"A\": \"b\"\n\t}\n}\n",
		"roomy":       "{ \"model\": \"opus\", \"hooks\": { \"Stop\": [ ], \"stop\": [\n ] },\t\"mcpServers\": {\t}, \"servers\": { }, \"mcp\": { }, \"context_servers\": {\n} }",
		"one line":    `{"model":"opus","hooks":{},"mcpServers":{"x":{"command":"y"}}}`,
		"others' hooks": `{
  "hooks": {
    "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
    "SessionStart": [
      {
        "matcher": "startup",
        "hooks": [{"type": "command", "command": "cmemd-hook claude-code | tee /tmp/log"}]
      }
    ],
    "stop": [{"command": "./audit.sh"}],
    "Mine": []
  },
  "mcpServers": {}, "servers": {"s": {"command": "s"}}, "mcp": {}, "context_servers": {}
}
`,
	}
}

// TestBackByteForByte: whatever a home holds, it holds the same after an installation and a removal.
func TestBackByteForByte(t *testing.T) {
	t.Parallel()
	for agent, file := range settingsOf() {
		for shape, text := range shapes() {
			t.Run(agent+"/"+shape, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.write(file, text, 0o640)
				before := w.snapshot()
				w.install(agent)
				if got := w.text(file); !strings.Contains(got, "/opt/cmemd/cmemd") || len(got) <= len(text) {
					t.Fatalf("nothing was put into it:\n%s", got)
				}
				if p := w.plan(agent); !p.Nothing() {
					t.Errorf("a second time it would change %+v", p.Changes)
				}
				w.uninstall(agent)
				if diff := cmp.Diff(before, w.snapshot()); diff != "" {
					t.Errorf("-before +after:\n%s", diff)
				}
				w.checkNothingKept()
				if p := w.planRemoval(agent); !p.Nothing() {
					t.Errorf("a second removal would change %+v", p.Changes)
				}
			})
		}
	}
}

// checkNothingKept wants no record and no backup.
func (w *world) checkNothingKept() {
	w.t.Helper()
	for _, pattern := range []string{"*.json", "backup/*"} {
		if left, err := filepath.Glob(filepath.Join(w.store.Dir, pattern)); len(left) > 0 || err != nil {
			w.t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

// TestBackInAnEmptyHome: where an agent had no settings it has none again, and no folder either.
func TestBackInAnEmptyHome(t *testing.T) {
	t.Parallel()
	for agent, file := range settingsOf() {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			before := w.snapshot()
			w.install(agent)
			if info, err := os.Stat(w.path(file)); err != nil || info.Mode().Perm() != 0o600 {
				t.Fatalf("%v, %v", info, err)
			}
			w.uninstall(agent)
			if diff := cmp.Diff(before, w.snapshot()); diff != "" {
				t.Errorf("-before +after:\n%s", diff)
			}
		})
	}
}

// TestOnlyOwnEntriesGo: where a person changed the settings since, their changes stay, and cmemd's entries go.
func TestOnlyOwnEntriesGo(t *testing.T) {
	t.Parallel()
	for agent, file := range settingsOf() {
		for shape, text := range shapes() {
			t.Run(agent+"/"+shape, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.write(file, text, 0o640)
				w.install(agent)
				changed := strings.Replace(w.text(file), "{", "{ \"since\": true,", 1)
				w.write(file, changed, 0o640)
				w.uninstall(agent)
				got := w.text(file)
				if strings.Contains(got, "/opt/cmemd") || !strings.Contains(got, "{ \"since\": true") {
					t.Errorf("left is:\n%s", got)
				}
				if strings.Contains(text, "model") {
					want := strings.Replace(text, "{", "{ \"since\": true,", 1)
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("-want +got:\n%s", diff)
					}
				}
			})
		}
	}
}

// TestOwnFileChangedSince: what is left of a file that cmemd made, and that a person wrote into, stays.
func TestOwnFileChangedSince(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.install("cursor")
	w.write(".cursor/hooks.json", strings.Replace(w.text(".cursor/hooks.json"), `"stop": [`, `"stop": [{"command": "mine"},`, 1), 0o600)
	w.write(".cursor/mcp.json", w.text(".cursor/mcp.json")+"\n", 0o600)
	w.uninstall("cursor")
	want := "{\n  \"version\": 1,\n  \"hooks\": {\n    \"stop\": [{\"command\": \"mine\"}\n    ]\n  }\n}\n"
	if diff := cmp.Diff(want, w.text(".cursor/hooks.json")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := os.Stat(w.path(".cursor/mcp.json")); err == nil {
		t.Errorf("left is: %s", w.text(".cursor/mcp.json"))
	}
}

// TestInstalledAgainAfterAChange: a person's change between two installations is what a removal leaves.
func TestInstalledAgainAfterAChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(".claude/settings.json", "{\n  \"a\": 1\n}\n", 0o644)
	w.install("claude-code")
	w.write(".claude/settings.json", strings.Replace(w.text(".claude/settings.json"), `"a": 1`, `"a": 2`, 1), 0o644)
	w.options.Program.Hook = []string{"/usr/bin/cmemd", "hook"}
	w.install("claude-code")
	if got := w.text(".claude/settings.json"); strings.Contains(got, "/opt/cmemd/cmemd-hook") || !strings.Contains(got, "/usr/bin/cmemd") {
		t.Errorf("the old entries are still there:\n%s", got)
	}
	w.uninstall("claude-code")
	if got, want := w.text(".claude/settings.json"), "{\n  \"a\": 2\n}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestOlderEntry: entries that a person or an older release wrote give way, and come back with the bytes from before; then
// they are all that a second removal takes out.
func TestOlderEntry(t *testing.T) {
	t.Parallel()
	old := `{
  "hooks": {
    "Stop": [{"hooks": [{"type": "command", "command": "cmemd-hook", "args": ["claude-code"], "timeout": 5}, {"type": "command", "command": "say"}]}],
    "PreCompact": [{"hooks": [{"type": "command", "command": "CMEMD_HOME='/a b' /old/cmemd hook claude-code"}]}],
    "SessionEnd": [{"hooks": [{"type": "http", "url": "http://127.0.0.1:37911/v1/hooks/claude-code"}]}]
  }
}
`
	w := newWorld(t)
	w.options.Listen = "127.0.0.1:37911"
	w.write(".claude/settings.json", old, 0o644)
	w.install("claude-code")
	got := w.text(".claude/settings.json")
	for _, gone := range []string{"PreCompact", "http", `"timeout": 5`} {
		if strings.Contains(got, gone) {
			t.Errorf("%s is still there:\n%s", gone, got)
		}
	}
	if n := strings.Count(got, "/opt/cmemd/cmemd-hook"); n != 10 || !strings.Contains(got, `"say"`) {
		t.Errorf("%d entries:\n%s", n, got)
	}
	p := w.planRemoval("claude-code")
	if len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "once more") {
		t.Errorf("notes: %q", p.Notes)
	}
	w.apply(p)
	if got := w.text(".claude/settings.json"); got != old {
		t.Errorf("not what was there:\n%s", got)
	}
	w.uninstall("claude-code")
	want := "{\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say\"}]}]\n  }\n}\n"
	if diff := cmp.Diff(want, w.text(".claude/settings.json")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestSecret: a token goes into no file that others may read.
func TestSecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(".claude/settings.json", "{}", 0o644)
	before := w.snapshot()
	w.options.HTTP = &HTTP{Addr: "127.0.0.1:37911", Token: "the-token"}
	w.install("claude-code")
	info, err := os.Stat(w.path(".claude/settings.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	got := w.text(".claude/settings.json")
	if n := strings.Count(got, "Bearer the-token"); n != 9 || strings.Count(got, "cmemd-hook") != 1 {
		t.Errorf("%d hooks post:\n%s", n, got)
	}
	w.uninstall("claude-code")
	if diff := cmp.Diff(before, w.snapshot()); diff != "" {
		t.Errorf("-before +after:\n%s", diff)
	}
}

// TestWhatIsWritten holds each agent's settings to what was read.
func TestWhatIsWritten(t *testing.T) {
	t.Parallel()
	for agent := range settingsOf() {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.options.Program.Home = "/srv/my memory"
			w.install(agent)
			var got strings.Builder
			for _, f := range w.record(agent).Files {
				name, err := filepath.Rel(w.machine.Home, f.Path)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&got, "-- %s --\n", filepath.ToSlash(name))
				for line := range strings.Lines(w.text(name)) {
					if filepath.Ext(name) != ".js" || strings.Contains(line, "const command = ") { // of a program only what is told it
						got.WriteString(line)
					}
				}
			}
			golden(t, filepath.Join("testdata", agent+".txt"), got.String())
		})
	}
}

func (w *world) record(agent string) *Record {
	w.t.Helper()
	r, err := w.store.Load(agent)
	if err != nil || r == nil {
		w.t.Fatalf("the record is %v, %v", r, err)
	}
	return r
}

// golden compares with a file, or writes it.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("-want +got (go test -update writes it anew):\n%s", diff)
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	c := Change{Path: "/x", Before: []byte("a\nb\n"), After: []byte("a\nc\n")}
	if got, want := string(c.Diff()), "--- /x\n+++ /x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRecordIsPlain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.install("zed")
	var got map[string]any
	text, err := os.ReadFile(w.store.recordPath("zed"))
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	if err != nil || got["state"] != stateApplied || got["version"] != "1.2.3" || got["method"] != MethodSettings {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestNoServer: a server that is not wanted any more goes, and the hooks stay.
func TestNoServer(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{"claude-code", "codex", "gemini-cli", "cursor", "windsurf", "opencode"} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			before := w.snapshot()
			w.install(agent)
			w.options.NoMCP = true
			w.install(agent)
			if !w.plan(agent).Nothing() {
				t.Error("it is not done")
			}
			hooks := 0
			for name, text := range w.snapshot() {
				if strings.Contains(text, `"mcp"`) || strings.Contains(text, "mcp_servers") {
					t.Errorf("%s still has a server:\n%s", name, text)
				}
				hooks += strings.Count(text, "cmemd-hook")
			}
			if hooks == 0 {
				t.Error("no hooks are left")
			}
			w.uninstall(agent)
			if diff := cmp.Diff(before, w.snapshot()); diff != "" {
				t.Errorf("-before +after:\n%s", diff)
			}
		})
	}
}

// TestRecordFollowsWhatIsAsked: where the files are so already, what was asked for is still put down; doctor plans by it.
func TestRecordFollowsWhatIsAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.NoMCP = true
	w.install("gemini-cli")
	path := w.store.recordPath("gemini-cli")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	older := strings.Replace(string(text), `"no_mcp": true`, `"no_mcp": false`, 1)
	if older == string(text) {
		t.Fatalf("the record does not say so:\n%s", text)
	}
	if err := os.WriteFile(path, []byte(older), 0o600); err != nil {
		t.Fatal(err)
	}
	if p := w.plan("gemini-cli"); p.Nothing() || len(p.Changes) != 0 || len(p.Notes) == 0 {
		t.Errorf("got %+v, want the record alone to change", p)
	}
	w.install("gemini-cli")
	if r, err := w.store.Load("gemini-cli"); err != nil || !r.NoMCP {
		t.Errorf("got %+v, %v", r, err)
	}
	if !w.plan("gemini-cli").Nothing() {
		t.Error("it is not done")
	}
}
