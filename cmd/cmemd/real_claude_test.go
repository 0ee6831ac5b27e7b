package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
)

// realKills is how often a daemon is killed while the real client works.
var realKills = flag.Int("real-kills", 3, "how often TestNoRealClientOutlivesTheDaemon kills the daemon")

// TestRealClientObserves has Claude Code itself observe a session: it is found again, what it cost is known, and the observer
// left no trace but its answers.
func TestRealClientObserves(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t, realClaude(t))
	w.play("real")
	w.settled()
	if found := w.search("marmalade"); len(found) != 1 || found[0].Kind != "observation" {
		t.Errorf("the search found %+v, want the observation", found)
	}
	w.checkRealUsage()
	if n := w.sessions(); n != 1 {
		t.Errorf("%d sessions are known, want the one that was played", n)
	}
	all := w.end()
	checkCalm(t, all, 2)
	w.checkRealQuestions(all)
	if left, err := os.ReadDir(homedir.PathsOf(w.home).Runs); len(left) != 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the observer left %v, %v", left, err)
	}
}

// checkRealUsage wants the tokens that the model told, the money that the client made of them, and who answered.
func (w *realWorld) checkRealUsage() {
	w.t.Helper()
	used, err := api.UsageRoute.Call(w.ctx, w.client, api.UsageQuery{By: api.UsageByModel, After: w.position()})
	if err != nil {
		w.t.Fatal(err)
	}
	total := used.Total
	w.t.Logf("%d turns, %d (%d cached) tokens in, %d out, $%.6f", total.Turns, total.Input, total.Cached, total.Output, total.USD)
	if total.Turns != 2 || total.Input != 2*1200 || total.Cached != 2*1000 || total.Output != 2*34 ||
		total.USD <= 0 || len(used.Unpriced) > 0 {
		w.t.Errorf("used %+v, want 2 turns of 1200 (1000 cached) tokens in and 34 out, and what they cost", used)
	}
	if len(used.Rows) != 1 || used.Rows[0].Provider != "claude-cli" || !strings.HasPrefix(used.Rows[0].Model, "claude-haiku-") {
		w.t.Errorf("by model: %+v, want claude-cli and its model", used.Rows)
	}
}

// sessions is how many sessions are known.
func (w *realWorld) sessions() int {
	w.t.Helper()
	found, err := api.SessionsRoute.Call(w.ctx, w.client, api.SessionsQuery{})
	if err != nil {
		w.t.Fatal(err)
	}
	return len(found.Sessions)
}

// position is what the log has come to.
func (w *realWorld) position() events.Position {
	w.t.Helper()
	st, err := api.StatusRoute.Call(w.ctx, w.client, api.NoQuery{})
	if err != nil {
		w.t.Fatal(err)
	}
	return st.Position
}

// ownBytes is how much the client may send beside the prompt, having no tools and no instructions of its own to tell. Two
// releases were seen to send 1,300 and 2,200 bytes.
const ownBytes = 4 << 10

// checkRealQuestions wants one call a turn, and not much more in it than the prompt.
func (w *realWorld) checkRealQuestions(all []logged) {
	w.t.Helper()
	var took []int64
	for _, e := range of[events.TurnReceived](all) {
		took = append(took, e.LatencyMS)
		if e.Cost <= 0 {
			w.t.Error("the client did not say what a turn cost")
		}
	}
	asked := w.model.questions()
	if len(asked) != 2 || asked[0].kind != events.TurnObservation || asked[1].kind != events.TurnSummary {
		w.t.Fatalf("the model was asked %+v, want an observation and a summary", asked)
	}
	for i, q := range asked {
		w.t.Logf("%s: %d bytes sent, %d of them the client's own, in %d ms", q.kind, q.bytes, q.own, took[i])
		if q.tools != 0 || q.own > ownBytes {
			w.t.Errorf("the model was offered %d tools and sent %d bytes of the client's own, want none and at most %d", q.tools, q.own, ownBytes)
		}
	}
}

// TestRealClientsHooksDoNotLoopBack: where the observer's own client runs the person's hooks all the same, cmemd's do nothing in it.
// The mark that the daemon gives its child tells them; where a hook loses it, that the child works in the home of cmemd does.
func TestRealClientsHooksDoNotLoopBack(t *testing.T) {
	t.Parallel()
	client := realClaude(t)
	if runtime.GOOS == "windows" {
		t.Skip("no sh")
	}
	for name, unmark := range map[string]string{"marked": "", "unmarked": "unset CMEMD_OBSERVER"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newRealWorld(t, withPersonsSettings(t, client))
			ran := filepath.Join(w.person, "ran")
			w.installHooks(fmt.Sprintf("echo ran >> '%s'; %s\nCMEMD_HOME='%s' CMEMD_NO_START=1 '%s' hook claude-code", ran, unmark, w.home, w.path))
			w.play("real")
			w.await("both turns", func(st api.Status) bool { return st.Inputs.Observed >= w.captured() })
			if b, err := os.ReadFile(ran); len(b) == 0 {
				t.Fatalf("the client ran no hook: %v", err)
			}
			_ = w.search("marmalade") // what was reported until now is known
			if n := w.sessions(); n != 1 {
				t.Errorf("%d sessions are known, want the one that was played", n)
			}
		})
	}
}

// withPersonsSettings is a client that heeds the settings of the person's home, whatever it is told.
func withPersonsSettings(t *testing.T, client string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "claude")
	script := fmt.Sprintf(`#!/bin/sh
for a; do
	shift
	[ "$last" = --setting-sources ] && a=user
	set -- "$@" "$a"
	last=$a
done
exec '%s' "$@"
`, client)
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// installHooks has the person's client run a shell command at each of its hooks that an observer comes by.
func (w *realWorld) installHooks(command string) {
	w.t.Helper()
	script := filepath.Join(w.person, "hook.sh")
	w.write(script, []string{command})
	hooks := map[string]any{}
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"} {
		hooks[event] = []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": "sh '" + script + "'"}}}}
	}
	if err := os.MkdirAll(filepath.Join(w.person, ".claude"), 0o700); err != nil {
		w.t.Fatal(err)
	}
	w.write(filepath.Join(w.person, ".claude", "settings.json"), []string{clitest.JSON(map[string]any{"hooks": hooks})})
}

// TestNoRealClientOutlivesTheDaemon kills the daemon in the middle of a turn, over and over, while the client starts and while
// it waits for the model: the client is gone with it, and the next daemon asks again, so that all that was reported is
// observed, once.
func TestNoRealClientOutlivesTheDaemon(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a client of 200 MB again and again")
	}
	t.Parallel()
	client := realClaude(t)
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends a child with its parent, and shows a process's environment")
	}
	w := newRealWorld(t, client)
	for i := range *realKills {
		w.model.hang(true)
		before := len(w.model.questions())
		w.play(fmt.Sprintf("real-%d", i))
		w.wait("the client", func() bool { return len(w.observers()) > 0 })
		if i%2 == 0 {
			w.wait("a question", func() bool { return len(w.model.questions()) > before })
		}
		if len(w.observers()) == 0 {
			t.Fatal("nobody asks")
		}
		if err := w.daemon.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = w.daemon.Wait() // it was killed
		began := time.Now()
		w.wait("the client to be gone", func() bool { return len(w.observers()) == 0 })
		t.Logf("kill %d: gone after %v", i+1, time.Since(began).Round(time.Millisecond))
		w.model.hang(false)
		w.daemon = w.serve(w.ctx)
		w.settled()
	}
	interrupted := 0
	for _, e := range of[events.TurnFailed](w.end()) {
		if e.Class != events.FailInterrupted {
			t.Errorf("a turn failed: %s %s", e.Class, e.Message)
		}
		interrupted++
	}
	if interrupted != *realKills {
		t.Errorf("%d turns were interrupted, want one a kill", interrupted)
	}
}

// wait waits until done.
func (w *realWorld) wait(what string, done func() bool) {
	w.t.Helper()
	for limit := time.Now().Add(matrixLimit); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			w.t.Fatalf("waited too long for %s", what)
		}
	}
}
