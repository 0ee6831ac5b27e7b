package setup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/install"
	"github.com/cmemd/cmemd/internal/process"
)

// TestRunClient: what a client said goes into the error, and its hooks would do nothing.
func TestRunClient(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no sh")
	}
	a := &terminal.App{Getenv: os.Getenv, Environ: os.Environ()}
	err := runClient(context.Background(), a, install.Command{Args: []string{"sh", "-c", "echo said $CMEMD_DISABLE; exit 3"}})
	if err == nil || !strings.HasSuffix(err.Error(), "exit status 3: said 1") {
		t.Errorf("got %v", err)
	}
	if err := runClient(context.Background(), a, install.Command{Args: []string{"true"}}); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestCheckTrust(t *testing.T) {
	t.Parallel()
	a := codexAgent(t)
	trusted := slices.Repeat([]install.Trust{{Event: "stop", Status: "trusted", Enabled: true}}, len(a.Hooks.Events))
	one := slices.Clone(trusted)
	one[0] = install.Trust{Event: "sessionEnd", Status: "modified", Enabled: true}
	for _, c := range []struct {
		all        []install.Trust
		says, next string
	}{
		{all: trusted},
		{one, "Codex does not run 1 of 6 hooks of cmemd (sessionEnd) until you trust them", "start `codex`, and look at /hooks"},
		{trusted[:1], "Codex knows 1 of 6 hooks of cmemd", a.Hooks.Trust.Remedy},
	} {
		err := CheckTrust(a, c.all)
		if (err == nil) != (c.says == "") || err != nil && err.Error() != c.says || terminal.NextStep(err) != c.next {
			t.Errorf("got %v, next %q, want %q, next %q", err, terminal.NextStep(err), c.says, c.next)
		}
	}
}

// newCodex is a folder that PATH begins with, and what writes a script as the codex there.
func newCodex(t *testing.T) (bin string, write func(script string)) {
	bin = t.TempDir()
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return bin, func(script string) {
		if err := os.WriteFile(filepath.Join(bin, "codex"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCodexTrust: Codex is let end by itself, gets a place for its databases, and one that does not end holds nobody up.
func TestCodexTrust(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no sh")
	}
	bin, codex := newCodex(t)
	a := &terminal.App{Getenv: os.Getenv}
	const answer = `echo '{"id":1,"result":{"data":[{"hooks":[{"eventName":"stop","command":"/x/cmemd-hook codex","enabled":true,"trustStatus":"trusted"}]}]}}'` + "\n"
	ended := filepath.Join(bin, "ended")
	codex(answer + "cat > /dev/null; echo $CODEX_SQLITE_HOME $* > " + ended + "\n")
	if got, err := AskTrust(t.Context(), a, codexAgent(t)); err != nil || len(got) != 1 || !got[0].Trusted() {
		t.Fatalf("got %v, %v", got, err)
	}
	said, err := os.ReadFile(ended)
	if err != nil {
		t.Fatalf("it was not let end: %v", err)
	}
	folder, rest, _ := strings.Cut(string(said), " ")
	if _, err := os.Stat(folder); !os.IsNotExist(err) || !filepath.IsAbs(folder) || !strings.Contains(rest, "features.plugins=false") {
		t.Errorf("it was given %s; the folder should be gone: %v", said, err)
	}
	child := filepath.Join(bin, "child")
	stays := "sleep 600 & echo $! > " + child + "; wait\n"
	for name, c := range map[string]struct {
		script string
		within time.Duration
	}{"answers": {answer + stays, clitest.Timeout}, "is silent": {stays, 3 * time.Second}} {
		codex(c.script)
		ctx, cancel := context.WithTimeout(t.Context(), c.within)
		began := time.Now()
		got, err := AskTrust(ctx, a, codexAgent(t))
		if took := time.Since(began); took > 2*clitest.Timeout || (err == nil) != (name == "answers") || len(got) > 0 != (name == "answers") {
			t.Errorf("one that does not end and %s: got %v, %v after %s", name, got, err, took)
		}
		if err != nil && err.Error() != "codex gave no answer within 3s" {
			t.Errorf("one that does not end and %s: got %v", name, err)
		}
		cancel()
		wantEnded(t, child)
	}
}

// TestCodexTrustStopped: where a person stops it, nothing says that Codex took too long.
func TestCodexTrustStopped(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no sh")
	}
	bin, codex := newCodex(t)
	child := filepath.Join(bin, "child")
	codex("sleep 600 & echo $! > " + child + ".new; mv " + child + ".new " + child + "; wait\n")
	ctx, cancel := context.WithCancel(t.Context())
	asked, agent := make(chan error, 1), codexAgent(t)
	go func() {
		_, err := AskTrust(ctx, &terminal.App{Getenv: os.Getenv}, agent)
		asked <- err
	}()
	for began := time.Now(); time.Since(began) < clitest.Timeout; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(child); err == nil {
			break
		}
	}
	cancel()
	if err := <-asked; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was stopped", err)
	}
	wantEnded(t, child)
}

// wantEnded holds that the process whose number stands in a file ends.
func wantEnded(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); time.Since(began) < clitest.Timeout; time.Sleep(10 * time.Millisecond) {
		if _, err := process.StartTime(pid); err != nil {
			return
		}
	}
	t.Errorf("process %d is left behind", pid)
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

func codexAgent(tb testing.TB) install.Agent {
	tb.Helper()
	a, known := install.ByName("codex")
	if !known {
		tb.Fatal("codex is not known")
	}
	return a
}
