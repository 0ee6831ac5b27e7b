package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/install"
)

// TestStablePath: agents are given the name that outlives an update, where it leads to this very program.
func TestStablePath(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no links")
	}
	cellar, bin := t.TempDir(), t.TempDir()
	program, link := filepath.Join(cellar, "cmemd"), filepath.Join(bin, "cmemd")
	if err := os.WriteFile(program, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	if got := stablePath(program, "cmemd"); got != program {
		t.Errorf("without one on the PATH: got %s", got)
	}
	if err := os.Symlink(program, link); err != nil {
		t.Fatal(err)
	}
	if got := stablePath(program, "cmemd"); got != link {
		t.Errorf("with a link to it: got %s, want %s", got, link)
	}
	other := filepath.Join(t.TempDir(), "cmemd")
	if err := os.WriteFile(other, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := stablePath(other, "cmemd"); got != other {
		t.Errorf("with another one on the PATH: got %s, want %s", got, other)
	}
}

// TestRunClient: what a client said goes into the error, and its hooks would do nothing.
func TestRunClient(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no sh")
	}
	a := &app{getenv: os.Getenv, environ: os.Environ()}
	err := a.runClient(context.Background(), install.Command{Args: []string{"sh", "-c", "echo said $CMEMD_DISABLE; exit 3"}})
	if err == nil || !strings.HasSuffix(err.Error(), "exit status 3: said 1") {
		t.Errorf("got %v", err)
	}
	if err := a.runClient(context.Background(), install.Command{Args: []string{"true"}}); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestTrustNote(t *testing.T) {
	t.Parallel()
	trusted, other := install.Trust{Event: "stop", Status: "trusted", Enabled: true}, install.Trust{Event: "sessionEnd", Status: "modified", Enabled: true}
	if got := trustNote([]install.Trust{trusted}); got != "" {
		t.Errorf("got %q", got)
	}
	if got := trustNote([]install.Trust{trusted, other}); !strings.HasPrefix(got, "Codex does not run 1 of 2 hooks (sessionEnd) until you trust them") {
		t.Errorf("got %q", got)
	}
}
