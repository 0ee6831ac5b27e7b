package evidence

import (
	"context"
	"errors"
	"os/exec"

	"github.com/cmemd/cmemd/internal/process"
)

// errTooMuch is an answer of git's that is longer than it may be.
var errTooMuch = errors.New("git says too much")

// runGit runs one git in dir and returns what it printed, at most limit bytes. It ends with ctx, its children too.
// What a repository's own configuration could have git start is switched off: monitors, hooks.
func runGit(ctx context.Context, cfg Config, dir string, limit int, args ...string) (string, error) {
	args = append([]string{"--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"}, args...)
	cmd := exec.CommandContext(ctx, cfg.Git, args...)
	out := &bounded{limit: limit}
	cmd.Dir, cmd.Env, cmd.WaitDelay, cmd.Stdout = dir, cfg.Env, killDelay, out
	process.OwnGroup(cmd)
	cmd.Cancel = func() error { return process.KillGroup(cmd.Process) }
	if err := cmd.Run(); err != nil {
		if out.over {
			return "", errTooMuch
		}
		return "", err
	}
	return string(out.b), nil
}

// bounded takes up to limit bytes, and refuses the rest, which ends whoever writes them.
type bounded struct {
	b     []byte
	limit int
	over  bool
}

func (w *bounded) Write(b []byte) (int, error) {
	if len(w.b)+len(b) > w.limit {
		w.over = true
		return 0, errTooMuch
	}
	w.b = append(w.b, b...)
	return len(b), nil
}
