package main

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/daemon"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
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
