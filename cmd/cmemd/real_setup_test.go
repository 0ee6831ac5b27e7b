package main

import (
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRealAgentsBySetup: `cmemd setup --yes` out of npm's cache, in a home with nothing but the settings by which the clients themselves
// reach a model on loopback, and the cache cleared up afterwards. What each client does then is captured, Claude Code is given memory,
// and a removal leaves the settings as they were, byte for byte.
func TestRealAgentsBySetup(t *testing.T) {
	t.Parallel()
	w, model := newPersonsWorld(t, "claude", realClaude(t), ""), newOtherModel(t)
	_ = w.daemon.Process.Kill() // setup is to start one
	_ = w.daemon.Wait()
	w.daemon = nil
	for _, a := range otherAgents() {
		w.has(a, model)
	}
	before := w.agentFiles()
	out := w.setUpFromCache()
	if !strings.Contains(out, "Claude Code, Codex, Gemini CLI") {
		t.Errorf("setup found other agents:\n%s", out)
	}
	w.checkKept()
	for i, a := range otherAgents() {
		w.ran(a.program, append(a.args, "Look around")...)
		if got := w.capturedInputs(); got != 2*(i+1) {
			t.Errorf("after %s: %d inputs are captured, want %d", a.name, got, 2*(i+1))
		}
	}
	w.ran("cmemd", "save", "Deploys of the marmalade cart go out on Tuesdays")
	w.checkSeen(w.session("Mend the cart of marmalade"))
	w.ran("cmemd", "uninstall", "--yes")
	if diff := cmp.Diff(before, w.agentFiles()); diff != "" {
		t.Errorf("-before +after:\n%s", diff)
	}
}

// has gives the person a client, with settings by which it asks the model.
func (w *personsWorld) has(a otherAgent, model *otherModel) {
	w.t.Helper()
	name, text := a.settings(model.URL)
	name = filepath.Join(w.person, name)
	err := errors.Join(os.Symlink(a.found(w.t), filepath.Join(filepath.Dir(w.path), a.program)), os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600))
	if err != nil {
		w.t.Fatal(err)
	}
	w.env = append(w.env, a.env(model.URL)...)
}

// setUpFromCache runs setup from a folder as npm keeps one, and removes that folder.
func (w *personsWorld) setUpFromCache() string {
	w.t.Helper()
	real, bin := w.path, filepath.Dir(w.path)
	cache := filepath.Join(w.t.TempDir(), "_npx", "0a1b", "node_modules", "@cmemd", "this", "bin")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		w.t.Fatal(err)
	}
	for _, name := range []string{"cmemd", "cmemd-hook"} {
		copyProgram(w.t, filepath.Join(bin, name), filepath.Join(cache, name))
	}
	w.path = filepath.Join(cache, "cmemd")
	out := w.ran("cmemd", "setup", "--yes")
	w.path = real
	w.t.Cleanup(func() { _ = w.command(w.ctx, "stop", "--kill").Run() })
	if err := os.RemoveAll(cache); err != nil {
		w.t.Fatal(err)
	}
	return out
}

// checkKept has the copy that stays look whether agents have what they are to have.
func (w *personsWorld) checkKept() {
	w.t.Helper()
	real := w.path
	w.path = filepath.Join(w.home, "bin", "cmemd")
	defer func() { w.path = real }()
	for _, title := range []string{"Claude Code: cmemd is in it (plugin)", "Codex: cmemd is in it (settings)", "Gemini CLI: cmemd is in it (settings)"} {
		if c := w.doctor("agents", title); c.State != "note" { // it never reported
			w.t.Errorf("without the cache: %+v", c)
		}
	}
}

func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
}

// agentFiles is what the settings of all agents hold.
func (w *personsWorld) agentFiles() map[string]string {
	w.t.Helper()
	all := w.files()
	for _, a := range otherAgents() {
		maps.Copy(all, w.settingsOf(a))
	}
	return all
}
