package scenarios

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

// TestNoDaemon: a demo whose daemon cannot be started says so and leaves nothing behind.
func TestNoDaemon(t *testing.T) {
	t.Parallel()
	d, err := newStage(&terminal.App{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	d.self += ".gone"
	if err := d.raise(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("raise: %v, want %v", err, fs.ErrNotExist)
	}
	if err := d.clear(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(d.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is left behind: %v", d.dir, err)
	}
}
