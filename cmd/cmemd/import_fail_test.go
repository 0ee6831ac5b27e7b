package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/testkit/sqlite"
)

// importing runs the command. It returns what it says, and its exit code.
func (p program) importing(ctx context.Context, args ...string) (out, complaint string, code int) {
	p.t.Helper()
	c := p.byPerson(ctx, append([]string{"import", "claude-mem"}, args...)...)
	var said, complained bytes.Buffer
	c.Stdout, c.Stderr = &said, &complained
	var ended *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &ended) {
		p.t.Fatal(err)
	}
	return said.String(), complained.String(), c.ProcessState.ExitCode()
}

// otherChanged makes a database of n sessions, runs a statement on it, and closes it.
func otherChanged(t *testing.T, n int, statement string, args ...any) string {
	t.Helper()
	var texts []string
	for i := range n {
		texts = append(texts, fmt.Sprintf("text %d", i))
	}
	path := otherDatabase(t, texts...)
	db := sqlite.Open(t, "file:"+path)
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
	return path
}

// What is not recorded whole, sessions without a row, and projects that are not there are told.
func TestImportTellsAll(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	p := newProgram(t)
	daemon := p.serve(ctx)
	defer func() { _ = daemon.Process.Kill(); _ = daemon.Wait() }()
	path := otherChanged(t, 3, `UPDATE observations SET narrative = ? WHERE id = 1; DELETE FROM sdk_sessions WHERE id = 3;`, strings.Repeat("word ", 60_000))
	out, complaint, code := p.importing(ctx, path, "--project", "nosuch")
	if code != terminal.ExitNothing || out != "" || !strings.Contains(complaint, "nosuch") || !strings.Contains(complaint, "the file has shop") {
		t.Errorf("no such project: code %d, %q, %q", code, out, complaint)
	}
	out, complaint, code = p.importing(ctx, path, "--project", "nosuch,shop")
	// the third session is made twice: prompts and tool uses know it by its agent's name, observations by claude-mem's
	for _, want := range []string{"2 + 2 without a row", "1 longer than is kept", "SHORTENED"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not said in:\n%s", want, out)
		}
	}
	if code != terminal.ExitOK || !strings.Contains(complaint, `no project "nosuch"`) {
		t.Errorf("code %d, %q", code, complaint)
	}
}

// Of a database that was cut what is left is taken in, once, and the rest is told.
func TestImportOfACutDatabase(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	p := newProgram(t)
	daemon := p.serve(ctx)
	defer func() { _ = daemon.Process.Kill(); _ = daemon.Wait() }()
	path := otherChanged(t, 400, "VACUUM")
	info, err := os.Stat(path)
	if err == nil {
		err = os.Truncate(path, info.Size()/2)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"prompt +400 +400 +0 +0 ", "prompt +400 +0 +400 +0 "} {
		out, complaint, code := p.importing(ctx, path)
		if code != terminal.ExitFailure || !strings.Contains(complaint, path) || !strings.Contains(complaint, ".recover") || strings.Contains(complaint, "claudemem") {
			t.Errorf("code %d, %q", code, complaint)
		}
		if !regexp.MustCompile(want).MatchString(out) || !strings.Contains(out, "in the damaged part") || strings.Contains(out, "no session") {
			t.Errorf("%q is not in, or no word of the damage, or a wrong one:\n%s", want, out)
		}
	}
}

// A daemon that dies in the middle of an import is told as that, and the next import goes on where it died.
func TestImportOutlivesTheDaemon(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	t.Parallel()
	const sessions = 400 // each with a prompt
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	p := newProgram(t)
	daemon := p.serve(ctx)
	path := otherChanged(t, sessions, "SELECT 1")
	done := make(chan struct{})
	go func() {
		defer close(done)
		client := client.Dial(p.home)
		defer client.Close()
		for s, err := api.StatusRoute.Call(ctx, client, api.NoQuery{}); ctx.Err() == nil && (err != nil || s.Position < events.Position(120)); s, err = api.StatusRoute.Call(ctx, client, api.NoQuery{}) {
			time.Sleep(5 * time.Millisecond)
		}
		_ = daemon.Process.Kill()
		_ = daemon.Wait()
	}()
	out, complaint, code := p.importing(ctx, path)
	<-done
	if code != terminal.ExitFailure || out != "" || !strings.Contains(complaint, "the daemon ended before all was taken in") ||
		!strings.Contains(complaint, "run this again") || strings.Contains(complaint, "http") {
		t.Errorf("code %d, %q, %q", code, out, complaint)
	}
	daemon = p.serve(ctx)
	defer func() { _ = daemon.Process.Kill(); _ = daemon.Wait() }()
	w := sweeper{matrixWorld: matrixWorld{program: p, ctx: ctx, cwd: filepath.Dir(path)}}
	got := w.imports(path)
	if n := got.Known["prompt"]; n < 10 || n >= sessions || n+got.Recorded["prompt"] != sessions {
		t.Errorf("%d prompts are known and %d recorded", n, got.Recorded["prompt"])
	}
}
