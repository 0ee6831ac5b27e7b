package relay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/cmemd/cmemd/internal/durable"
)

const (
	startPause  = time.Minute     // between two attempts to start the daemon
	startGrace  = 5 * time.Second // in which a daemon just started may be waited for
	maxStartLog = 1 << 20         // bytes; a longer start.log begins anew
)

// expectDaemon starts the daemon if it is this hook's turn to, and reports whether one may be there in a moment.
func (h *hook) expectDaemon() bool {
	if h.Start == nil {
		return false
	}
	lock, err := tryLock(h.Home, startLock)
	if err != nil {
		return errors.Is(err, errLocked)
	}
	defer unlock(lock)
	now := time.Now()
	stamp := StartStamp(h.Home)
	if age := stampAge(stamp, now); age >= 0 && age < startPause {
		return age < startGrace
	}
	// Without the stamp each hook would start one; where it cannot be written no daemon can run either.
	if err := durable.Swap(stamp, now.UTC().AppendFormat(nil, time.RFC3339Nano), 0o600); err != nil {
		return false
	}
	h.result.Started = h.Start(h.Home) == nil
	return h.result.Started
}

// HoldStart keeps hooks from starting a daemon for a home until release is called or the process ends: whoever replaces a daemon does
// not want the old program back in between. Hooks wait for a daemon within their budget meanwhile, then spool. HoldStart waits for
// others that hold it until ctx is done, which is its error; where a file system has no locks hooks start none, and nothing is held.
func HoldStart(ctx context.Context, home string) (release func(), err error) {
	for {
		lock, err := tryLock(home, startLock)
		switch {
		case err == nil:
			return func() { unlock(lock) }, nil
		case !errors.Is(err, errLocked):
			return func() {}, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("relay: another command is starting a daemon: %w", ctx.Err())
		case <-time.After(startPoll):
		}
	}
}

// startPoll is how long HoldStart waits between two tries.
const startPoll = 5 * time.Millisecond

// StartStamp is the file of a home that says when a hook last started a daemon. Hooks start none for a minute after that, so that one that
// crashes is not started over and over; a daemon that ends in order removes it.
func StartStamp(home string) string { return filepath.Join(home, "run", "start.stamp") }

// stampAge returns how long ago the last attempt was; a negative age if there was none, or only in the future.
func stampAge(path string, now time.Time) time.Duration {
	data, err := durable.ReadBounded(path, maxSmallFile)
	if err != nil {
		return -1
	}
	at, err := time.Parse(time.RFC3339Nano, string(data))
	if err != nil {
		return -1
	}
	return now.Sub(at)
}

// StartDaemon starts `cmemd serve` for a home and does not wait for it. The command is the one beside this process's own executable,
// else the one that `cmemd install` wrote down. It runs detached, in the home, and takes nothing from this process's environment but
// what ServeEnv leaves of it; what it says before its own log is open goes to home/logs/start.log.
func StartDaemon(home string) error {
	p, err := ReadPrograms(home)
	if err != nil {
		return err
	}
	command, err := findCommand(p)
	if err != nil {
		return err
	}
	named, _ := ReadVariables(home)
	environ := os.Environ()
	if folder := folderOfUser("/etc/passwd", os.Getuid()); p.UserHome == "" && folder != "" {
		environ = append(environ, userHomeVariable()+"="+folder)
	}
	return spawn(command, home, ServeEnv(environ, home, named))
}

// folderOfUser is a user's own folder as a file of the form of passwd(5) has it; empty where it has none: on macOS and Windows, and of
// who is known to another service. os/user would ask that too, and link the C library where there is a compiler.
func folderOfUser(passwd string, uid int) string {
	data, err := durable.ReadBounded(passwd, maxPasswd)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Split(line, ":"); len(f) == 7 && f[2] == strconv.Itoa(uid) && filepath.IsAbs(f[5]) {
			return f[5]
		}
	}
	return ""
}

// maxPasswd is how much of the list of users is read, in bytes: some ten thousand of them.
const maxPasswd = 1 << 20

// findCommand returns the path of the cmemd command. Where nobody wrote down where it is, it may be anywhere on PATH.
func findCommand(p Programs) (string, error) {
	name := "cmemd"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if self, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		beside := filepath.Join(filepath.Dir(self), name)
		if path, err := exec.LookPath(beside); err == nil {
			return path, nil
		}
	}
	if p.Cmemd != "" {
		name = p.Cmemd
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("relay: find cmemd: %w", err)
	}
	return filepath.Abs(path)
}

func spawn(command, home string, env []string) error {
	cmd := exec.Command(command, ServeArgs(home)...)
	cmd.Dir, cmd.Env = home, env
	if log, err := openStartLog(home); err == nil {
		defer log.Close()
		cmd.Stdout, cmd.Stderr = log, log
	}
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("relay: start cmemd: %w", err)
	}
	return cmd.Process.Release()
}

func openStartLog(home string) (*os.File, error) {
	dir := filepath.Join(home, "logs")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "start.log")
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if info, err := os.Stat(path); err == nil && info.Size() > maxStartLog {
		flags |= os.O_TRUNC
	}
	return os.OpenFile(path, flags, 0o600)
}
