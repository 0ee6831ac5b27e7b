package eventlog

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// retryLockEvery is how often OpenLocked looks whether another process has let go: as often as bbolt.
const retryLockEvery = 50 * time.Millisecond

// OpenLocked opens the file at path for reading and keeps every log out of it until it is closed, whatever it holds: Open and OpenReadOnly of
// it wait, or return *LockedError. It returns that itself where another process has the file and does not let go within timeout. On
// systems without flock nobody is kept out.
func OpenLocked(path string, timeout time.Duration) (*os.File, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() { // opening a pipe would wait for its other end
		return nil, errors.Join(err, fmt.Errorf("%w: %s is no file", ErrNotLog, path))
	}
	for until := time.Now().Add(timeout); ; time.Sleep(retryLockEvery) {
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("eventlog: %w", err)
		}
		switch err = tryLock(f); {
		case err == nil && isAt(f, path):
			return f, nil
		case err == nil: // it was replaced while we waited
		case !errors.Is(err, ErrLocked):
			return nil, errors.Join(fmt.Errorf("eventlog: hold %s: %w", path, err), f.Close())
		case time.Now().After(until):
			pid, command := holderOf(path)
			return nil, errors.Join(&LockedError{Path: path, PID: pid, Command: command}, f.Close())
		}
		_ = f.Close() // nothing was written
	}
}
