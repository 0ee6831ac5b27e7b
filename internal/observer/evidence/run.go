package evidence

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/cmemd/cmemd/internal/process"
)

const (
	// killDelay is how long a killed child's pipes may stay open, held by children of its own.
	killDelay = 200 * time.Millisecond
	// maxStderr is how much of what git complains about is looked at for its reason.
	maxStderr = 4 << 10
)

// errTooMuch is an answer of git's that is longer than it may be.
var errTooMuch = errors.New("git says too much")

// runGit runs one git in dir with input, and returns what it printed, at most limit bytes, as far as it came. It ends with
// ctx, its children too. What a repository's own configuration could have git start is switched off: monitors, hooks.
func runGit(ctx context.Context, cfg Config, dir, input string, maxOutput int, args ...string) (string, error) {
	args = append([]string{"--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"}, args...)
	cmd := exec.CommandContext(ctx, cfg.Git, args...)
	out, complaint := &process.Output{Limit: maxOutput, Strict: true}, &process.Output{Limit: maxStderr}
	cmd.Dir, cmd.Env, cmd.WaitDelay, cmd.Stdout, cmd.Stderr = dir, cfg.Env, killDelay, out, complaint
	cmd.Stdin = strings.NewReader(input)
	process.OwnGroup(cmd)
	process.DieWithParent(cmd) // elsewhere it ends with its input, which is all there
	cmd.Cancel = func() error { return process.KillGroup(cmd.Process) }
	runtime.LockOSThread() // the system kills git when the thread that started it ends
	defer runtime.UnlockOSThread()
	err := cmd.Run()
	reason := reasonOf(complaint.String())
	switch {
	case err == nil:
		return out.String(), nil
	case errors.Is(err, exec.ErrNotFound):
		err = errors.New("git not found")
	case cmd.Process == nil:
		err = fmt.Errorf("git does not start: %w", err)
	case out.Over():
		err = fmt.Errorf("git ended: %w", errTooMuch)
	case reason != "":
		err = errors.New("git ended: git: " + reason)
	default:
		err = fmt.Errorf("git ended: %w", err)
	}
	return out.String(), err
}

// reasonOf is the line of git's complaints that says why it ended: that of the fatal error, else the first.
func reasonOf(complaints string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(complaints), "\n")
	for line := range strings.Lines(complaints) {
		if strings.HasPrefix(line, "fatal: ") {
			first = strings.TrimSpace(line)
			break
		}
	}
	return first[:min(len(first), 200)]
}
