package eventlog_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/cmemd/cmemd/eventlog"
)

// TestHold: whoever holds a file keeps logs out of it, and is kept out by them.
func TestHold(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log.db")
	log := openLog(t, path)
	if _, err := eventlog.OpenLocked(path, time.Millisecond); !errors.Is(err, eventlog.ErrLocked) {
		t.Fatalf("beside a log: %v", err)
	}
	mustClose(t, log)
	held, err := eventlog.OpenLocked(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eventlog.Open(path, eventlog.Config{Timeout: time.Millisecond}); !errors.Is(err, eventlog.ErrLocked) {
		t.Errorf("a log beside it: %v", err)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	mustClose(t, openLog(t, path))
	if _, err := eventlog.OpenLocked(filepath.Dir(path), 0); !errors.Is(err, eventlog.ErrNotLog) {
		t.Errorf("a folder: %v", err)
	}
}
