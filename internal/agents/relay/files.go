package relay

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cmemd/cmemd/internal/filelock"
)

// maxSmallFile bounds the small files of home/run; each holds one short JSON object.
const maxSmallFile = 64 << 10

// errLocked means that another process holds the lock.
var errLocked = errors.New("relay: the lock is held by another process")

// lockWait is how long a hook waits for another one that counts or spools; both take well under a millisecond.
const lockWait = 50 * time.Millisecond

// lockUnanswered keeps other processes from changing what is written down, trying for up to lockWait. unlock gives the lock
// back, as does the end of the process. It returns errLocked if another process keeps it.
func lockUnanswered(home string) (*os.File, error) {
	const pause = 2 * time.Millisecond
	for wait := lockWait; ; wait -= pause {
		f, err := tryLock(home, "unanswered.lock")
		if !errors.Is(err, errLocked) || wait <= 0 {
			return f, err
		}
		time.Sleep(pause)
	}
}

// startLock is the lock of whoever starts a daemon for a home.
const startLock = "start.lock"

// tryLock takes a lock of a home, whose file it makes if need be, or returns errLocked.
func tryLock(home, name string) (*os.File, error) {
	run := filepath.Join(home, "run")
	if err := os.MkdirAll(run, 0o700); err != nil {
		return nil, err
	}
	f, free, err := filelock.Open(filepath.Join(run, name))
	if err == nil && !free {
		err = errLocked
	}
	return f, err
}

// unlock gives a lock back, also where a child that is just being started still has a copy of the file.
func unlock(f *os.File) { _ = filelock.Release(f) }

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
