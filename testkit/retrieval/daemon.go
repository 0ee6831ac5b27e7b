package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
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

// daemon is a cmemd of its own in a temporary folder.
type daemon struct {
	dir    string
	cmd    *exec.Cmd
	ended  chan struct{} // closed when the process is gone
	said   bytes.Buffer  // on standard error; read after ended
	client *client.Client
}

// startDaemon runs binary, or builds the program, with the given settings, and returns when it answers. The caller stops it.
func startDaemon(ctx context.Context, binary string, settings []string) (*daemon, error) {
	dir, err := os.MkdirTemp("", "retrieval")
	if err != nil {
		return nil, err
	}
	d := &daemon{dir: dir, ended: make(chan struct{})}
	if binary == "" {
		binary = filepath.Join(dir, "cmemd")
		err = build(ctx, binary)
	}
	if err == nil {
		err = d.run(ctx, binary, settings)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := d.await(ctx); err != nil {
		d.stop()
		return nil, err
	}
	return d, nil
}

func build(ctx context.Context, binary string) error {
	out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "github.com/cmemd/cmemd/cmd/cmemd").CombinedOutput()
	if err != nil {
		return fmt.Errorf("build cmemd: %w\n%s", err, out)
	}
	return nil
}

// run starts the process, with no settings but the given ones and those that keep it to itself.
func (d *daemon) run(ctx context.Context, binary string, settings []string) error {
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
	d.client = client.Dial(home)
	return nil
}

// await returns when the daemon is ready.
func (d *daemon) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for {
		if ready, err := api.ReadyRoute.Call(ctx, d.client, api.ReadyQuery{Always: true}); err == nil && ready.Ready {
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

// stop ends the process and removes its folder.
func (d *daemon) stop() {
	d.client.Close()
	_ = d.cmd.Process.Signal(os.Interrupt) // it may have ended
	select {
	case <-d.ended:
	case <-time.After(stopWait):
		_ = d.cmd.Process.Kill()
		<-d.ended
	}
	_ = os.RemoveAll(d.dir) // a temporary folder; what stays is the system's to remove
}
