//go:build unix

package model_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/cmemd/cmemd/internal/observer/model"
)

// TestNothingOutlivesAKeyCommand: what a command started is gone when it has printed a key, and when its turn is over, even
// where that ignores being asked. It holds a pipe, whose end tells of its own.
func TestNothingOutlivesAKeyCommand(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		then string // said once the child runs
		want string // the key; empty: the turn is over first
	}{"a key": {"echo thekey", "thekey"}, "none": {"wait", ""}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fifo := filepath.Join(t.TempDir(), "held")
			if err := syscall.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			script := `exec 3> "$0"; trap "" TERM; sh -c 'trap "" TERM; sleep 600; sleep 600' & ` + c.then
			k := key(t, model.KeySource{Command: []string{"sh", "-c", script, fifo}})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				held, err := os.Open(fifo) // waits for the command
				if err != nil {
					t.Error(err)
					return
				}
				defer held.Close()
				if c.want == "" {
					cancel()
				}
				_, _ = io.Copy(io.Discard, held)
			}()
			got, err := k.Get(ctx)
			if got != c.want || (err == nil) != (c.want != "") || err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
			select {
			case <-ended:
			case <-time.After(5 * time.Second):
				t.Error("a child of the command still runs")
			}
		})
	}
}
