package crash_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/testkit/crash"
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
