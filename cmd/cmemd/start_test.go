package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/daemon"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
)

// TestStartWaitsForTheQuicker has another process hold the log, and a daemon listen only after the one that `cmemd start`
// launched has given up.
func TestStartWaitsForTheQuicker(t *testing.T) {
	t.Parallel()
	program := newProgram(t)
	p := homedir.PathsOf(program.home)
	if err := p.Make(); err != nil {
		t.Fatal(err)
	}
	held, err := eventlog.Open(p.Log, eventlog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	said := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), clitest.Patience)
	defer cancel()
	go func() {
		var err error
		out, err = program.command(ctx, "start").CombinedOutput()
		said <- err
	}()
	for ; ; time.Sleep(5 * time.Millisecond) {
		if b, _ := os.ReadFile(p.StartLog); strings.Contains(string(b), "held") {
			break
		}
		if ctx.Err() != nil {
			t.Fatal("the second daemon does not say that the log is held")
		}
	}
	time.Sleep(100 * time.Millisecond) // for the second daemon to be gone: its command must wait on
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	quicker := program.serve(ctx)
	if err := <-said; err != nil || !strings.Contains(string(out), "is running already") {
		t.Errorf("start: %v\n%s", err, out)
	}
	if err := errors.Join(quicker.Process.Signal(os.Interrupt), quicker.Wait()); err != nil {
		t.Error(err)
	}
}

// TestStopWithoutDaemonFile takes away what the daemon wrote down of itself: stop must name it all the same.
func TestStopWithoutDaemonFile(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	program := newProgram(t)
	served := program.serve(ctx)
	p := homedir.PathsOf(program.home)
	if err := os.Remove(p.Daemon); err != nil {
		t.Fatal(err)
	}
	client := client.Dial(program.home)
	defer client.Close()
	pid, err := daemon.Stop(ctx, client, p, false)
	if pid != served.Process.Pid || err != nil {
		t.Errorf("stop: got pid %d, %v; want %d", pid, err, served.Process.Pid)
	}
	if err := client.Alive(ctx); !errors.Is(err, api.ErrNotRunning) {
		t.Errorf("after stop: got %v, want that none runs", err)
	}
	if err := served.Wait(); err != nil {
		t.Errorf("the daemon ended with %v", err)
	}
}
