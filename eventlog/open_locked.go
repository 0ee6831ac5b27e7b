package eventlog

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/cmemd/cmemd/internal/filelock"
)

// retryLockEvery is how long OpenLocked waits before it tries again to lock a file that another process has: as long as bbolt.
const retryLockEvery = 50 * time.Millisecond

// OpenLocked opens the file at path for reading and locks it until it is closed, whatever it holds: meanwhile Open and
// OpenReadOnly of it wait, or return *LockedError. OpenLocked returns that error too, where another process keeps the file locked
// for longer than timeout. On systems without flock nothing is locked.
func OpenLocked(path string, timeout time.Duration) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("eventlog: %w", err)
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for its other end
		return nil, fmt.Errorf("%w: %s is no file", ErrNotLog, path)
	}
	for until := time.Now().Add(timeout); ; time.Sleep(retryLockEvery) {
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("eventlog: %w", err)
		}
		switch free, err := filelock.Try(f); {
		case free && isAt(f, path):
			return f, nil
		case free: // it was replaced while we waited
		case err != nil:
			return nil, errors.Join(fmt.Errorf("eventlog: hold %s: %w", path, err), f.Close())
		case time.Now().After(until):
			pid, command := holderOf(path)
			return nil, errors.Join(&LockedError{Path: path, PID: pid, Command: command}, f.Close())
		}
		_ = f.Close() // nothing was written
	}
}
