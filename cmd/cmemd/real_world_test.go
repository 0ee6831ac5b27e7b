package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/testkit/race"
)

// realClaude finds Claude Code itself, or skips.
func realClaude(t *testing.T) string {
	t.Helper()
	race.SkipProcesses(t)
	path, err := exec.LookPath(cmp.Or(os.Getenv("CMEMD_TEST_CLAUDE"), "claude"))
	if err != nil {
		t.Skip("Claude Code is not installed here: these tests look for `claude` on the PATH, or for what CMEMD_TEST_CLAUDE names")
	}
	if path, err = filepath.Abs(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// realWorld is a daemon, a real process, that asks Claude Code itself, which asks a model on loopback.
type realWorld struct {
	matrixWorld
	model  *realModel
	person string // the home folder of the person whose client it is
}

// newRealWorld starts one whose client is at path.
func newRealWorld(t *testing.T, path string) *realWorld {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	w := &realWorld{matrixWorld: matrixWorld{program: newProgram(t), ctx: ctx}, model: newRealModel(t), person: t.TempDir()}
	w.cwd = t.TempDir()
	w.env = []string{
		"HOME=" + w.person, "CMEMD_CLAUDE_CLI_URL=" + w.model.URL, "CMEMD_CLAUDE_CLI_ENV=ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY=sk-ant-api03-of-nobody", "TMPDIR=" + t.TempDir(),
	}
	if err := os.MkdirAll(w.home, 0o700); err != nil {
		t.Fatal(err)
	}
	w.write(filepath.Join(w.home, config.FileName), []string{`provider = "claude-cli"`, `claude_cli_path = "` + path + `"`})
	w.client = client.Dial(w.home)
	t.Cleanup(w.client.Close)
	w.daemon = w.serve(ctx)
	t.Cleanup(func() {
		if w.daemon != nil {
			_ = w.daemon.Process.Kill()
			_ = w.daemon.Wait()
		}
	})
	return w
}

// realSession is what one short session of Claude Code reported, by the names of the captured payloads.
func realSession() []string {
	return []string{
		"SessionStart-startup", "UserPromptSubmit", "PostToolUse-Bash", "PostToolUse-Read", "PostToolUse-Edit", "PostToolUse-Write",
		"PostToolUseFailure-Bash", "Stop", "SessionEnd-other",
	}
}

// play has a session report what a captured one did, each hook in a process of its own, as the agent starts it.
func (w *realWorld) play(session string) {
	w.t.Helper()
	for _, name := range realSession() {
		captured, err := os.ReadFile(filepath.Join("..", "..", "internal", "agents", "testdata", "claude-code", name+".json"))
		if err != nil {
			w.t.Fatal(err)
		}
		var payload map[string]any
		if err := json.Unmarshal(captured, &payload); err != nil {
			w.t.Fatal(err)
		}
		payload["session_id"], payload["cwd"] = session, w.cwd
		w.report(payload)
		switch {
		case strings.HasPrefix(name, "PostToolUse"):
			w.uses++
		case name == "Stop":
			w.stops++
		}
	}
}

// report runs one hook.
func (w *realWorld) report(payload map[string]any) {
	w.t.Helper()
	b, err := json.Marshal(payload)
	if err != nil {
		w.t.Fatal(err)
	}
	c := w.command(w.ctx, "hook", "claude-code")
	var stderr bytes.Buffer
	c.Stdin, c.Stderr = bytes.NewReader(b), &stderr
	if err := c.Run(); err != nil || stderr.Len() > 0 {
		w.t.Fatalf("hook %s: %v, %s", payload["hook_event_name"], err, &stderr)
	}
}

// settled waits until all that was reported is observed.
func (w *realWorld) settled() {
	w.t.Helper()
	w.awaitBalance(session.Balance{Observed: w.captured()})
}

// observers lists the processes that live with what the daemon gives its observer: the client, and whatever it started.
func (w *realWorld) observers() (pids []string) {
	mark := []byte("\x00TMPDIR=" + homedir.PathsOf(w.home).Runs)
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(all) == 0 {
		w.t.Fatalf("no processes can be seen: %v", err)
	}
	for _, path := range all {
		if env, err := os.ReadFile(path); err == nil && bytes.Contains(env, mark) {
			pids = append(pids, filepath.Base(filepath.Dir(path)))
		}
	}
	return pids
}
