package homedir

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/cmemd/cmemd/internal/memory/curation"
	"github.com/cmemd/cmemd/testkit/race"
	"github.com/cmemd/cmemd/testkit/wait"
)

// isThere reports whether something is at path.
func isThere(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Lstat(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// TestScratch: a folder goes with who used it, a start leaves it alone as long as it is used, and an erasure ends who uses it.
func TestScratch(t *testing.T) {
	t.Parallel()
	p := PathsOf(filepath.Join(t.TempDir(), "home[1")) // a name that is no pattern
	var used string
	failed := errors.New("failed")
	if err := p.WithScratch(t.Context(), func(_ context.Context, dir string) error { used = dir; return failed }); !errors.Is(err, failed) || isThere(t, used) {
		t.Errorf("of one that fails: got %v, and that its folder is there: %v", err, isThere(t, used))
	}
	other := filepath.Join(p.Home, "compare-file")
	if err := os.WriteFile(other, nil, OwnFile); err != nil {
		t.Fatal(err)
	}
	err := p.WithScratch(t.Context(), func(ctx context.Context, dir string) error {
		used = dir
		if err := p.SweepScratch(ctx); err != nil || !isThere(t, dir) {
			t.Errorf("swept while it is used: %v", err)
		}
		ended := make(chan bool)
		go func() {
			<-ctx.Done()
			err := os.MkdirAll(filepath.Join(dir, "views"), 0o700) // as somebody does who makes what is missing
			ended <- err == nil && errors.Is(context.Cause(ctx), curation.ErrWordsForgotten)
		}()
		go func() { _ = p.ClearScratch(t.Context()) }()
		if !<-ended {
			t.Error("it did not end by the erasure")
		}
		return nil
	})
	if !errors.Is(err, curation.ErrWordsForgotten) || isThere(t, used) || !isThere(t, other) {
		t.Errorf("got %v; there is its folder: %v, another's file: %v", err, isThere(t, used), isThere(t, other))
	}
}

const scratchVar = "CMEMD_TEST_SCRATCH"

// TestScratchOfKilled: what a killed process left goes at the next sweep, and not before it is killed.
func TestScratchOfKilled(t *testing.T) {
	if home := os.Getenv(scratchVar); home != "" {
		_ = PathsOf(home).WithScratch(t.Context(), func(_ context.Context, dir string) error {
			os.Stdout.WriteString(dir + "\n")
			select {}
		})
	}
	race.SkipProcesses(t)
	t.Parallel()
	p := PathsOf(t.TempDir())
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestScratchOfKilled$")
	cmd.Env = append(os.Environ(), scratchVar+"="+p.Home)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	lines := bufio.NewScanner(out)
	lines.Scan()
	dir := lines.Text()
	if err := p.SweepScratch(t.Context()); err != nil || !isThere(t, dir) {
		t.Fatalf("%q: swept while it is used: %v", dir, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the killed process's folder is removed", func() bool { return p.SweepScratch(t.Context()) == nil && !isThere(t, dir) })
}
