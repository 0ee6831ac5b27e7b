// Package daemon runs a real cmemd in a temporary home, for commands that measure one from outside.
package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
)

const (
	startWait = 30 * time.Second
	stopWait  = 10 * time.Second
	lookEvery = 20 * time.Millisecond
)

// Daemon is a cmemd of its own in a temporary folder.
type Daemon struct {
	Client *client.Client // asks it

	dir   string
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process is gone
	said  bytes.Buffer  // on standard error; read after ended
}

// Main is the main of a command that measures: it runs until that ends or is interrupted. An error is said behind the command's name, and
// ends it with 1.
func Main(name string, run func(ctx context.Context, args []string, stdout, stderr io.Writer) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

// Start runs binary with the given variables as settings and no others, and returns when it answers. The caller stops it.
func Start(ctx context.Context, binary string, settings []string) (*Daemon, error) {
	dir, err := os.MkdirTemp("", "cmemd")
	if err != nil {
		return nil, err
	}
	d := &Daemon{dir: dir, ended: make(chan struct{})}
	if err := d.run(ctx, binary, settings); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := d.await(ctx); err != nil {
		d.Stop()
		return nil, err
	}
	return d, nil
}

// Program returns binary, or where that is "" the program of the module around the working folder, built anew. Remove lets go of
// what was built.
func Program(ctx context.Context, binary string) (program string, remove func(), err error) {
	if binary != "" {
		return binary, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "cmemd")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) } // a temporary folder; what stays is the system's to remove
	program = filepath.Join(dir, "cmemd")
	if err := Build(ctx, program); err != nil {
		remove()
		return "", nil, err
	}
	return program, remove, nil
}

// Build writes the program of the module around the working folder to binary.
func Build(ctx context.Context, binary string) error {
	out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "github.com/cmemd/cmemd/cmd/cmemd").CombinedOutput()
	if err != nil {
		return fmt.Errorf("build cmemd: %w\n%s", err, out)
	}
	return nil
}

// run starts the process, with no settings but the given ones and those that keep it to itself.
func (d *Daemon) run(ctx context.Context, binary string, settings []string) error {
	home := filepath.Join(d.dir, "home")
	d.cmd = exec.CommandContext(ctx, binary, "serve")
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "CMEMD_") {
			d.cmd.Env = append(d.cmd.Env, v)
		}
	}
	d.cmd.Env = append(d.cmd.Env, "CMEMD_HOME="+home, "CMEMD_LISTEN=")
	d.cmd.Env = append(d.cmd.Env, settings...)
	d.cmd.Stderr, d.cmd.WaitDelay = &d.said, stopWait
	d.cmd.Cancel = func() error { return d.cmd.Process.Signal(os.Interrupt) }
	if err := d.cmd.Start(); err != nil {
		return fmt.Errorf("start cmemd: %w", err)
	}
	go func() { // stop waits for it
		_ = d.cmd.Wait() // what it said tells more
		close(d.ended)
	}()
	d.Client = client.Dial(home)
	return nil
}

// await returns when the daemon is ready.
func (d *Daemon) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for {
		if ready, err := api.ReadyRoute.Call(ctx, d.Client, api.ReadyQuery{Always: true}); err == nil && ready.Ready {
			return nil
		}
		select {
		case <-d.ended:
			return fmt.Errorf("cmemd ended: %s", bytes.TrimSpace(d.said.Bytes()))
		case <-ctx.Done():
			return fmt.Errorf("cmemd is not ready: %w", ctx.Err())
		case <-time.After(lookEvery):
		}
	}
}

// Stop ends the process and removes its folder.
func (d *Daemon) Stop() {
	d.Client.Close()
	_ = d.cmd.Process.Signal(os.Interrupt) // it may have ended
	select {
	case <-d.ended:
	case <-time.After(stopWait):
		_ = d.cmd.Process.Kill()
		<-d.ended
	}
	_ = os.RemoveAll(d.dir) // a temporary folder; what stays is the system's to remove
}
