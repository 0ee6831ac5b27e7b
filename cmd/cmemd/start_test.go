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
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
)

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

// TestStartReplacesAnOlderBuild: two builds that are both called dev are told apart by when their programs were written.
func TestStartReplacesAnOlderBuild(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	program := newProgram(t)
	served := program.serve(ctx)
	start := func() string {
		out, err := program.command(ctx, "start").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	if said := start(); !strings.Contains(said, "is running already") {
		t.Errorf("beside its own build: %s", said)
	}
	program.makeOlder()
	if said := start(); !strings.Contains(said, "stopped the older daemon dev") || !strings.Contains(said, "started") {
		t.Errorf("beside an older build: %s", said)
	}
	if err := served.Wait(); err != nil {
		t.Errorf("the older daemon ended with %v", err)
	}
	if out, err := program.command(ctx, "stop").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// makeOlder has the running daemon count as one of an older build.
func (p program) makeOlder() {
	p.t.Helper()
	path := homedir.PathsOf(p.home).Daemon
	d, err := homedir.ReadDaemonFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	d.Program, d.File = d.Program.Add(-time.Second), "another"
	if err := d.Write(path); err != nil {
		p.t.Fatal(err)
	}
}

// TestStartFailsAtOnce: where the daemon cannot begin, start says so before the 15 s are over that one may take to be ready.
func TestStartFailsAtOnce(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second)
	defer cancel()
	program := newProgram(t)
	path := homedir.PathsOf(program.home).Log
	if err := errors.Join(os.MkdirAll(program.home, 0o700), os.WriteFile(path, []byte("this is no log"), 0o600)); err != nil {
		t.Fatal(err)
	}
	out, err := program.command(ctx, "start").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "not a log") {
		t.Errorf("got %v: %s", err, out)
	}
}

// TestMakeRoom: an older daemon is stopped, and no hook starts one until the programs are in place; one that is not older goes on.
func TestMakeRoom(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	program := newProgram(t)
	served := program.serve(ctx)
	a, _, _ := clitest.App()
	a.HomeDir, a.Version, a.Getenv = program.home, "dev", func(string) string { return "" }
	dialled := client.Dial(program.home)
	defer dialled.Close()
	makeRoom := func() func() {
		release, err := daemon.MakeRoom(ctx, a)
		if err != nil {
			t.Fatal(err)
		}
		return release
	}
	makeRoom()()
	if err := dialled.Alive(ctx); err != nil {
		t.Errorf("a daemon that is not older: %v", err)
	}
	program.makeOlder()
	release := makeRoom()
	if err := served.Wait(); err != nil {
		t.Errorf("the older daemon ended with %v", err)
	}
	held, stop := context.WithTimeout(ctx, 50*time.Millisecond)
	defer stop()
	if _, err := relay.HoldStart(held, program.home); err == nil {
		t.Error("another may start a daemon meanwhile")
	}
	release()
	again, err := relay.HoldStart(ctx, program.home)
	if err != nil {
		t.Fatal(err)
	}
	again()
}
