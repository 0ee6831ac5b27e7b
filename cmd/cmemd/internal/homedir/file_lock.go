package homedir

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/cmemd/cmemd/internal/filelock"
	"github.com/cmemd/cmemd/internal/sleep"
)

// ErrLocked is a file that another process is about to replace.
var ErrLocked = errors.New("another command is changing it")

const (
	// lockWait is how long a command waits for others that change the same file; each takes a few syncs of a disk.
	lockWait = 10 * time.Second

	// lockPause is between two looks at a lock, far below what a change takes.
	lockPause = 5 * time.Millisecond
)

// LockBeside returns when no other process that asked for it changes the file at path, until the file that it returns is
// closed. That is a file beside it, which stays: the one at path is replaced, and with it would go its lock. The error is
// ErrLocked where another kept it for lockWait.
func LockBeside(ctx context.Context, path string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	if err := awaitLock(limited, f); err != nil {
		return nil, errors.Join(err, ctx.Err(), f.Close())
	}
	return f, nil
}

// awaitLock takes f, and tries until ctx is done.
func awaitLock(ctx context.Context, f *os.File) error {
	for {
		if ok, err := filelock.Try(f); ok || err != nil {
			return err
		}
		if sleep.For(ctx, lockPause) != nil {
			return ErrLocked
		}
	}
}
