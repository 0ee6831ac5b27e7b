package main

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api/client"
)

// TestAliveOfADaemonThatHangs holds a socket that is listened at, and never answered on, to an error in time.
func TestAliveOfADaemonThatHangs(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Skip("no such socket here:", err)
	}
	defer l.Close()
	client := client.DialSocket(path)
	defer client.Close()
	err = terminal.Alive(t.Context(), client, 20*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "has not answered for 20ms") || !strings.Contains(terminal.NextStep(err), "cmemd stop --kill") {
		t.Errorf("got %v, next %q", err, terminal.NextStep(err))
	}
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	if err := terminal.Alive(interrupted, client, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: got %v", err)
	}
}

// TestDescribeOverdue holds an error of a deadline to a person's words.
func TestDescribeOverdue(t *testing.T) {
	t.Parallel()
	err := errors.Join(context.DeadlineExceeded)
	if got := terminal.Describe(err); got != "no answer in time" {
		t.Errorf("got %q", got)
	}
}
