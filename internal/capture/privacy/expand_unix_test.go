//go:build unix

package privacy

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestPipesAreNotOpened: to open a named pipe is to wait for whoever writes into it.
func TestPipesAreNotOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		rules := NewRules(filepath.Join(dir, "home"), Switches{})
		rules.Inspect(dir, `{"command":"cat pipe/*"}`)
		rules.Inspect(pipe, `{"command":"cat *"}`)
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("it waits for the pipe")
	}
}
