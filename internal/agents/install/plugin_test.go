package install

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPluginAsItIsCarried: the folder of the repository is a whole plugin by itself, for those who have cmemd on the PATH.
func TestPluginAsItIsCarried(t *testing.T) {
	t.Parallel()
	o := Options{Program: Program{Hook: []string{"cmemd-hook"}, Cmemd: "cmemd"}}
	golden(t, filepath.Join("plugin", filepath.FromSlash(pluginHooksPath)), string(claude(t).pluginHooks("linux", o)))
	golden(t, filepath.Join("plugin", filepath.FromSlash(pluginServersPath)), string(pluginServers(o)))
	files, err := embeddedFiles()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Path)
	}
	want := []string{
		".claude-plugin/marketplace.json", "cmemd/.claude-plugin/plugin.json", "cmemd/.mcp.json", "cmemd/README.md",
		"cmemd/commands/recall.md", "cmemd/hooks/hooks.json", "cmemd/skills/memory/SKILL.md",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTree(t *testing.T) {
	t.Parallel()
	o := Options{Program: Program{Hook: []string{"/opt/cmemd-hook"}, Cmemd: "/opt/cmemd"}, Version: "v1.2.3-4-gabc"}
	texts := map[string]string{}
	for _, f := range mustTree(t, o) {
		texts[f.Path] = string(f.Text)
		if strings.HasSuffix(f.Path, ".json") && !json.Valid(f.Text) {
			t.Errorf("%s is no JSON:\n%s", f.Path, f.Text)
		}
	}
	version := treeVersion(mustTree(t, o))
	if !strings.HasPrefix(version, "1.2.3-b") {
		t.Errorf("the version is %q", version)
	}
	for _, name := range []string{".claude-plugin/marketplace.json", "cmemd/.claude-plugin/plugin.json"} {
		if !strings.Contains(texts[name], fmt.Sprintf("%q: %q", "version", version)) {
			t.Errorf("%s has another version:\n%s", name, texts[name])
		}
	}
	if !strings.Contains(texts[pluginHooksPath], `"/opt/cmemd-hook"`) || !strings.Contains(texts[pluginServersPath], `"/opt/cmemd"`) {
		t.Errorf("other programs: %s\n%s", texts[pluginHooksPath], texts[pluginServersPath])
	}
	moved := o
	moved.Program.Hook = []string{"/usr/bin/cmemd-hook"}
	if treeVersion(mustTree(t, moved)) == version {
		t.Error("another content has the same version")
	}
	o.NoMCP = true
	for _, f := range mustTree(t, o) {
		if f.Path == pluginServersPath {
			t.Error("a server, though none is wanted")
		}
	}
}

func mustTree(t *testing.T, o Options) []File {
	t.Helper()
	files, err := claude(t).Tree("linux", o)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestPluginSteps: what Claude Code is told depends on what it knows already.
func TestPluginSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Settings = false
	dir := filepath.Join(w.options.Home, "install", "claude-code")
	version := treeVersion(mustTree(t, w.options))
	validate, list := "claude plugin validate --strict "+filepath.Join(dir, "cmemd"), "claude plugin "
	known := func(market, version string, on bool) {
		w.write(".claude/plugins/known_marketplaces.json", fmt.Sprintf(`{"cmemd": {"source": {"source": "directory", "path": %q}}}`, market), 0o600)
		w.write(".claude/plugins/installed_plugins.json", fmt.Sprintf(`{"version": 2, "plugins": {"cmemd@cmemd": [{"scope": "user", "version": %q}]}}`, version), 0o600)
		w.write(".claude/settings.json", fmt.Sprintf(`{"enabledPlugins": {"cmemd@cmemd": %v}}`, on), 0o600)
	}
	steps := func(want ...string) {
		t.Helper()
		var got []string
		for _, c := range w.plan("claude-code").Commands {
			got = append(got, strings.Join(c.Args, " "))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	steps(validate, list+"marketplace add "+dir, list+"install cmemd@cmemd")
	known(dir, "0.0.1", true)
	steps(validate, list+"marketplace update cmemd", list+"uninstall cmemd@cmemd", list+"install cmemd@cmemd")
	w.install("claude-code")
	known(dir, version, true)
	if p := w.plan("claude-code"); !p.Nothing() {
		t.Errorf("once it is there: %+v", p)
	}
	known(dir, version, false)
	steps(validate, list+"marketplace update cmemd", list+"enable cmemd@cmemd")
	known("/somewhere", version, true)
	if _, err := w.agent("claude-code").Install(w.machine, w.options, w.store); err == nil || !strings.Contains(err.Error(), "another marketplace") {
		t.Errorf("another marketplace: %v", err)
	}
}

// TestPluginFails: where the client refuses, what was written is known, and a removal takes it back.
func TestPluginFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Settings = false
	w.write(".claude/settings.json", "{\n}\n", 0o644)
	before := w.snapshot()
	w.fail = "marketplace add"
	if err := w.store.Apply(t.Context(), w.plan("claude-code"), w.run, w.now()); err == nil {
		t.Fatal("it went well")
	}
	w.fail = ""
	w.uninstall("claude-code")
	if diff := cmp.Diff(before, w.snapshot()); diff != "" {
		t.Errorf("-before +after:\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(w.store.Dir, "claude-code")); err == nil {
		t.Error("the plugin's folder is still there")
	}
	w.checkNothingKept()
}

// TestOtherWayRefused: what is in as a plugin is not put into the settings too.
func TestOtherWayRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Settings = false
	w.install("claude-code")
	w.options.Settings = true
	if _, err := w.agent("claude-code").Install(w.machine, w.options, w.store); err == nil || !strings.Contains(err.Error(), "as a plugin") {
		t.Errorf("got %v", err)
	}
}
