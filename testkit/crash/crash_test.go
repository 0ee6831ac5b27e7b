package crash_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/testkit/crash"
	"github.com/cmemd/cmemd/testkit/race"
)

func TestMain(m *testing.M) {
	os.Exit(crash.Main(m, map[string]crash.Role{
		"count": func(args []string) int {
			for i, a := range args {
				fmt.Println(i, a)
			}
			fmt.Print("half a line")
			time.Sleep(time.Hour)
			return 0
		},
		"exit": func([]string) int {
			fmt.Println("bye")
			fmt.Fprint(os.Stderr, "ouch")
			return 3
		},
		"write": func(args []string) int {
			if err := os.WriteFile(args[0], []byte("text"), 0o600); err != nil {
				fmt.Fprint(os.Stderr, err)
				return 1
			}
			return 0
		},
		"steps": func(args []string) int {
			path := filepath.Join(args[0], "folder", "file")
			err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("text"), 0o600), os.Rename(path, path+"2"),
				os.WriteFile(args[1], nil, 0o600), os.Remove(path+"2"))
			if err != nil {
				return 1
			}
			return 0
		},
	}))
}

func TestKill(t *testing.T) {
	t.Parallel()
	c := crash.Start(t, "count", "a", "b")
	c.WaitLines(2)
	want := []string{"0 a", "1 b"}
	if diff := cmp.Diff(want, c.Kill()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if _, _, err := c.Wait(); err == nil {
		t.Error("a killed child ended without an error")
	}
	if diff := cmp.Diff(want, c.Kill()); diff != "" {
		t.Errorf("lines after a second kill (-want +got):\n%s", diff)
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	lines, stderr, err := crash.Start(t, "exit").Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("got error %v, want exit code 3", err)
	}
	if diff := cmp.Diff([]string{"bye"}, lines); diff != "" || stderr != "ouch" {
		t.Errorf("got %q on standard error, lines (-want +got):\n%s", stderr, diff)
	}
}

func TestUnknownRole(t *testing.T) {
	t.Parallel()
	_, _, err := crash.Start(t, "nobody").Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 {
		t.Errorf("got error %v, want exit code 2", err)
	}
}

// TestEachStep has a role that takes five steps in the folder, and one elsewhere, which is none.
func TestEachStep(t *testing.T) {
	race.SkipProcesses(t)
	t.Parallel()
	other := filepath.Join(t.TempDir(), "other")
	var steps, left []string
	crash.EachStep(t, "steps", func(_ *testing.T, dir string, kill func(args ...string) string) {
		steps = append(steps, kill(dir, other))
		found := ""
		for _, name := range []string{"folder", "folder/file", "folder/file2"} {
			if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.IsDir() {
				found += name + " "
			} else if err == nil {
				found += fmt.Sprint(name, " of ", info.Size(), " ")
			}
		}
		left = append(left, found)
	})
	want := []string{"mkdir folder", "create folder/file", "write folder/file", "rename folder/file to folder/file2", "remove folder/file2", ""}
	if diff := cmp.Diff(want, steps); len(steps) > 0 && diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	want = []string{"", "folder ", "folder folder/file of 0 ", "folder folder/file of 4 ", "folder folder/file2 of 4 ", "folder "}
	if diff := cmp.Diff(want, left); len(left) > 0 && diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
}

// TestTrace has the one write of a program fail, be cut, or not, and its file not be made.
func TestTrace(t *testing.T) {
	race.SkipProcesses(t)
	t.Parallel()
	const call = "write folder/file*"
	for name, c := range map[string]struct {
		fault  crash.Fault
		failed int
		code   int
		left   string
	}{
		"nothing fails":    {crash.Fault{}, 0, 0, "text"},
		"another call":     {crash.Fault{Call: call, Nth: 1, Errno: syscall.EIO}, 0, 0, "text"},
		"the write fails":  {crash.Fault{Call: call, Errno: syscall.EIO}, 1, 1, ""},
		"the write is cut": {crash.Fault{Call: call, Short: true}, 1, 0, "text"}, // the rest is written by another
		"a full disk":      {crash.Fault{Full: true}, 1, 1, ""},
		"full behind one":  {crash.Fault{Full: true, Nth: 1}, 1, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "folder", "file17")
			if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			p := crash.Trace(t, crash.Program{
				Args: []string{self, path}, Env: append(os.Environ(), "CMEMD_TEST_ROLE=write"), Dir: dir, Armed: true, Fault: c.fault,
			})
			code, said, err := p.Wait()
			if err != nil || code != c.code || p.Failed() != c.failed {
				t.Errorf("ended with %d, %d calls failed, %v; want %d, %d; %s", code, p.Failed(), err, c.code, c.failed, said)
			}
			if b, _ := os.ReadFile(path); string(b) != c.left {
				t.Errorf("left %q, want %q", b, c.left)
			}
			if calls := p.Calls(); len(calls) > 0 && calls[0] != "create folder/file*" {
				t.Errorf("calls %q", calls)
			}
		})
	}
}
