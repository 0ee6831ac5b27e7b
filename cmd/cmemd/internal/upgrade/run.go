package upgrade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/process"
)

// How long commands may take: one that asks, and one that fetches and perhaps compiles.
const (
	askWait   = 30 * time.Second
	fetchWait = 30 * time.Minute
)

// maxAnswer bounds what is read of a command that was asked something, in bytes.
const maxAnswer = 64 << 10

// here is this machine.
func here(a *terminal.App) (machine, error) {
	self, err := os.Executable()
	if err != nil {
		return machine{}, err
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	build, _ := debug.ReadBuildInfo() // nil: it says nothing
	return machine{
		self: self, root: string(filepath.Separator), version: a.Version, source: sourceFolder(), build: build,
		exists: exists, writable: writable, lookPath: exec.LookPath, output: output,
	}, nil
}

// sourceFolder is the top of the module's folder that this program was built from; empty where it does not name one, as released
// programs do not.
func sourceFolder() string {
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) {
		return ""
	}
	for range 5 { // cmd/cmemd/internal/upgrade/run.go
		file = filepath.Dir(file)
	}
	return file
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// output is the first line that a command prints, without blanks around it.
func output(ctx context.Context, argv ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	out, err := ask(ctx, argv)
	first, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
	return strings.TrimSpace(first), err
}

// ask runs a command, and returns what it prints. What it says of a failure is in the error.
func ask(ctx context.Context, argv []string) (string, error) {
	out, said := &process.Output{Limit: maxAnswer}, &process.Output{Limit: maxAnswer}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, said, time.Second
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s: %w: %s", commandLine([][]string{argv}), err, terminal.EndOf(said.String()))
	}
	return out.String(), nil
}

// runAll runs an origin's commands in a temporary folder, one after the other while they end well. What they say goes to standard
// error: it is their progress.
func runAll(ctx context.Context, a *terminal.App, o origin, home string) error {
	dir, err := os.MkdirTemp("", "cmemd-upgrade-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary folder
	ctx, cancel := context.WithTimeout(ctx, fetchWait)
	defer cancel()
	for _, argv := range o.Commands {
		a.Infof("%s", terminal.VisibleLine(commandLine([][]string{argv})))
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = dir, append(append(os.Environ(), "CMEMD_HOME="+home), o.env...)
		cmd.Stdout, cmd.Stderr, cmd.WaitDelay = a.Err, a.Err, time.Second
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w", commandLine([][]string{argv}), err)
		}
	}
	return nil
}

// versionOf asks a cmemd for its version.
func versionOf(ctx context.Context, program string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	out, err := ask(ctx, []string{program, "version", "--json"})
	if err != nil {
		return "", err
	}
	var v struct{ Version string }
	if err := json.Unmarshal([]byte(out), &v); err != nil || v.Version == "" {
		return "", errors.Join(fmt.Errorf("%s does not say its version", program), err)
	}
	return v.Version, nil
}

// A startedDaemon is what `cmemd start` says of the daemon that runs.
type startedDaemon struct {
	Version string `json:"version"`
	PID     int    `json:"pid"`
	Stopped string `json:"stopped,omitempty"` // the version of the daemon that made room
}

// replaceDaemon has program take the daemon's place, which leaves a daemon of the system's service to that.
func replaceDaemon(ctx context.Context, program, home string) (*startedDaemon, error) {
	ctx, cancel := context.WithTimeout(ctx, 4*askWait)
	defer cancel()
	out, err := ask(ctx, []string{program, "--home", home, "start", "--json"})
	if err != nil {
		return nil, err
	}
	var d startedDaemon
	return &d, json.Unmarshal([]byte(out), &d)
}
