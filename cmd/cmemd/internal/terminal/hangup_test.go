//go:build unix

package terminal

import (
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cmemd/cmemd/testkit/race"
)

const hangupVar = "CMEMD_TEST_HANGUP"

// TestUntilHangup: a command ends in order when its terminal is closed, and under nohup it goes on.
func TestUntilHangup(t *testing.T) {
	if os.Getenv(hangupVar) != "" {
		wait := 10 * time.Second
		if signal.Ignored(syscall.SIGHUP) {
			wait = 200 * time.Millisecond
		}
		ctx, stop := UntilHangup(t.Context())
		defer stop()
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		select {
		case <-ctx.Done():
			t.Log("it was ended")
		case <-time.After(wait):
			t.Log("it went on")
		}
		return
	}
	race.SkipProcesses(t)
	t.Parallel()
	caught := make(chan os.Signal, 1) // what is caught here is neither caught nor ignored in a child, also where nohup runs this test
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)
	for shell, want := range map[string]string{`exec "$0" "$@"`: "it was ended", `trap '' HUP; exec "$0" "$@"`: "it went on"} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", shell, os.Args[0], "-test.run=^TestUntilHangup$", "-test.v")
		cmd.Env = append(os.Environ(), hangupVar+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: got %v, want that %s:\n%s", shell, err, want, out)
		}
	}
}
