package claudecli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/cmemd/cmemd/internal/observer/model"
	"github.com/cmemd/cmemd/internal/process"
)

// ending is how a child ended.
type ending struct {
	code     int  // -1: by a signal
	signaled bool // by a signal, perhaps ours
}

// run asks q of one child, and returns what it said when it has ended and its group is killed. An error says that there was
// none.
func (c *Client) run(ctx context.Context, q model.Question) (*answer, ending, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	r := newRun(c.dir)
	cmd, err := c.command(ctx, q, r.ID)
	if err != nil {
		return nil, ending{}, err
	}
	a := &answer{now: time.Now}
	a.stop = func() { // at once: a client that is asked to end asks the model again while it does
		_ = process.KillGroup(cmd.Process)
		stop()
	}
	cmd.Stdout = &lines{take: a.take, limit: maxLine}
	linger := time.AfterFunc(math.MaxInt64, stop)
	defer linger.Stop()
	a.finished = func() { linger.Reset(c.grace) } // it has said all, and may not end by itself
	if err := c.live(cmd, r, stop); err != nil {
		return nil, ending{}, err
	}
	return a, endingOf(cmd.ProcessState), nil
}

// live starts cmd and returns when it has ended and what is left of its group is killed. Its thread is held all the while: the system kills
// the child when the thread that started it ends.
func (c *Client) live(cmd *exec.Cmd, r childRecord, stop func()) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return startFailure(err)
	}
	noted := r.note(cmd.Process.Pid)
	if noted != nil {
		stop() // what is not written down is not found again
	}
	_ = cmd.Wait() // how it ended is seen by what it said, and by its state
	_ = process.KillGroup(cmd.Process)
	r.forget()
	return noted
}

// command is one child, ready to start: it ends with ctx, asked at first and killed after the grace.
func (c *Client) command(ctx context.Context, q model.Question, run string) (*exec.Cmd, error) {
	path, err := c.find()
	if err != nil {
		return nil, err
	}
	cwd, tmp := filepath.Join(c.dir, cwdName), filepath.Join(c.dir, tmpName)
	if err := errors.Join(os.MkdirAll(cwd, 0o700), os.MkdirAll(tmp, 0o700)); err != nil {
		return nil, setupFailure("the folder of runs cannot be made", err)
	}
	system, err := c.systemFile(q.System)
	if err != nil {
		return nil, setupFailure("the folder of runs cannot be written", err)
	}
	input, err := stdin(q.User)
	if err != nil {
		return nil, fmt.Errorf("claudecli: encode the prompt: %w", err)
	}
	cmd := exec.CommandContext(ctx, path, c.args(system)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = cwd, childEnv(c.env, run, tmp, q.MaxTokens), c.grace
	cmd.Stdin = bytes.NewReader(input) // and its end: the client answers what it was given, and ends
	process.OwnGroup(cmd)
	process.DieWithParent(cmd) // elsewhere it ends with its turn, by its own time limit, or by Sweep
	cmd.Cancel = func() error { return process.EndGroup(cmd.Process) }
	return cmd, nil
}

// startFailure tells a client that cannot be run, or is just being installed, from a machine that cannot start anything.
func startFailure(err error) error {
	for _, known := range []error{fs.ErrNotExist, fs.ErrPermission, exec.ErrNotFound, syscall.ENOEXEC, syscall.ETXTBSY} {
		if errors.Is(err, known) {
			return setupFailure("the client cannot be run", err)
		}
	}
	return fmt.Errorf("claudecli: start the client: %w", err)
}

func endingOf(state *os.ProcessState) ending {
	code := state.ExitCode()
	return ending{code: code, signaled: code < 0}
}
