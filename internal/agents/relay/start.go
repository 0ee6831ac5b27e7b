package relay

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/internal/agents/known"
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
	run := filepath.Join(h.Home, "run")
	if err := os.MkdirAll(run, 0o700); err != nil {
		return false
	}
	lock, err := tryLock(filepath.Join(run, "start.lock"))
	if err != nil {
		return errors.Is(err, errLocked)
	}
	defer unlock(lock)
	now := time.Now()
	stamp := filepath.Join(run, "start.stamp")
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

// stampAge returns how long ago the last attempt was; a negative age if there was none, or only in the future.
func stampAge(path string, now time.Time) time.Duration {
	data, err := readBounded(path, maxSmallFile)
	if err != nil {
		return -1
	}
	at, err := time.Parse(time.RFC3339Nano, string(data))
	if err != nil {
		return -1
	}
	return now.Sub(at)
}

// StartDaemon starts `cmemd serve` for a home and does not wait for it. The command is the one beside this process's own
// executable, else the one on PATH. It runs detached, in the home, with this process's environment except the secrets
// that agents give to their hooks; what it says before its own log is open goes to home/logs/start.log.
func StartDaemon(home string) error {
	command, err := findCommand()
	if err != nil {
		return err
	}
	return spawn(command, home, os.Environ())
}

// findCommand returns the path of the cmemd command.
func findCommand() (string, error) {
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
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("relay: find cmemd: %w", err)
	}
	return filepath.Abs(path)
}

func spawn(command, home string, env []string) error {
	cmd := exec.Command(command, "serve")
	cmd.Dir = home
	cmd.Env = DaemonEnv(env, home)
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

// DaemonEnv returns env for a daemon that outlives the agent: without the secrets that agents give their hooks, and with the
// home that its caller found, so that both mean the same one.
func DaemonEnv(env []string, home string) []string {
	kept, secrets := make([]string, 0, len(env)+1), known.Secrets()
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		secret := slices.ContainsFunc(secrets, func(beginning string) bool { return strings.HasPrefix(name, beginning) })
		if !secret && name != "CMEMD_HOME" {
			kept = append(kept, kv)
		}
	}
	return append(kept, "CMEMD_HOME="+home)
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
