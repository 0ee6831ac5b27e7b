package homedir

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/cmemd/cmemd/internal/filelock"
	"github.com/cmemd/cmemd/internal/memory/curation"
	"github.com/cmemd/cmemd/internal/sleep"
)

const (
	// scratchPrefix begins the names of folders below a home that hold captured text as long as a comparison runs.
	scratchPrefix = "compare-"

	// scratchLock is the file in such a folder whose lock is held as long as the folder is used.
	scratchLock = "lock"

	// scratchCleared is the file in such a folder by which an erasure says that it takes the folder away.
	scratchCleared = "cleared"

	// scratchPause is between two looks whether a folder that is used is still there.
	scratchPause = 50 * time.Millisecond

	// clearWait is how long an erasure waits until who uses a folder has let go of it.
	clearWait = 2 * time.Second
)

// WithScratch calls do with a folder below a home for what is made of the log, where nobody else can read it, and removes the folder
// then. What killed processes left there is removed too. An erasure takes the folder away: the context that do is given ends, and the
// error is curation.ErrWordsForgotten, whatever do returns.
func (p Paths) WithScratch(ctx context.Context, do func(ctx context.Context, dir string) error) (err error) {
	dir, lock, err := p.makeScratch(ctx)
	if err != nil {
		return err
	}
	working, end := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		for sleep.For(working, scratchPause) == nil {
			if isCleared(dir) {
				end(curation.ErrWordsForgotten)
			}
		}
	})
	defer func() {
		end(nil)
		watching.Wait()
		if isCleared(dir) {
			err = curation.ErrWordsForgotten
		}
		err = errors.Join(err, filelock.Release(lock), os.RemoveAll(dir)) // Windows removes no file that is open
	}()
	return do(working, dir)
}

// isCleared reports whether an erasure took a folder away. The folder itself may be there again: whoever writes in it makes it anew.
func isCleared(dir string) bool {
	_, said := os.Lstat(filepath.Join(dir, scratchCleared))
	_, gone := os.Lstat(filepath.Join(dir, scratchLock))
	return said == nil || errors.Is(gone, os.ErrNotExist)
}

// makeScratch makes a folder and takes its lock.
func (p Paths) makeScratch(ctx context.Context) (dir string, lock *os.File, err error) {
	if err := os.MkdirAll(p.Home, 0o700); err != nil {
		return "", nil, err
	}
	_ = p.SweepScratch(ctx) // what stays is tried again, and goes with the next erasure
	guard, err := p.guardScratch(ctx)
	if err != nil {
		return "", nil, err
	}
	defer guard.Close()
	if dir, err = os.MkdirTemp(p.Home, scratchPrefix); err != nil {
		return "", nil, err
	}
	if lock, _, err = filelock.Open(filepath.Join(dir, scratchLock)); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, lock, nil
}

// guardScratch keeps others from making or removing such folders until the file that it returns is closed: one that was just made has no
// lock yet.
func (p Paths) guardScratch(ctx context.Context) (*os.File, error) {
	return LockBeside(ctx, filepath.Join(p.Home, strings.TrimSuffix(scratchPrefix, "-")))
}

// SweepScratch removes those of the folders that nobody uses: who made them was killed.
func (p Paths) SweepScratch(ctx context.Context) error {
	return p.eachScratch(ctx, func(dir string) error {
		lock, free, err := filelock.Open(filepath.Join(dir, scratchLock))
		if !free || err != nil {
			return err
		}
		return errors.Join(filelock.Release(lock), os.RemoveAll(dir))
	})
}

// ClearScratch removes all of the folders, for what was forgotten may be in them. Those who use them end by that.
func (p Paths) ClearScratch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	return p.eachScratch(ctx, func(dir string) error {
		if os.WriteFile(filepath.Join(dir, scratchCleared), nil, OwnFile) == nil {
			awaitUnused(ctx, dir) // where that is not in time, as of a process that is stopped, the folder goes all the same
		}
		return os.RemoveAll(dir)
	})
}

// awaitUnused returns when nobody uses a folder, or after clearWait.
func awaitUnused(ctx context.Context, dir string) {
	limited, cancel := context.WithTimeout(ctx, clearWait)
	defer cancel()
	for {
		lock, free, err := filelock.Open(filepath.Join(dir, scratchLock))
		if free {
			_ = filelock.Release(lock)
		}
		if free || err != nil || sleep.For(limited, lockPause) != nil {
			return
		}
	}
}

// eachScratch calls do with each of the folders while nobody makes or removes others.
func (p Paths) eachScratch(ctx context.Context, do func(dir string) error) error {
	entries, err := os.ReadDir(p.Home)
	errs := []error{err}
	var guard *os.File
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), scratchPrefix) {
			continue
		}
		if guard == nil {
			if guard, err = p.guardScratch(ctx); err != nil {
				return err
			}
			defer guard.Close()
		}
		dir := filepath.Join(p.Home, e.Name())
		if _, err := os.Lstat(dir); err == nil { // whoever used it may have removed it since
			errs = append(errs, do(dir))
		}
	}
	return errors.Join(errs...)
}
