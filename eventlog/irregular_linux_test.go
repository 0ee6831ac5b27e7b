package eventlog_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/cmemd/cmemd/eventlog"
)

// TestFifo: what is no file is refused at once; the system would wait for somebody at the other end.
func TestFifo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func(string, eventlog.Config) (*eventlog.Bolt, error){"Open": eventlog.Open, "OpenReadOnly": eventlog.OpenReadOnly} {
		if _, err := open(path, eventlog.Config{}); !errors.Is(err, eventlog.ErrNotLog) {
			t.Errorf("%s: got %v, want ErrNotLog", name, err)
		}
	}
}
