//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package engine

import (
	"errors"
	"os"
	"syscall"
)

// lock takes f for this process as long as it is open. The error is errLocked if another has it.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return err
}

// letGo unlocks and closes a file that is still mapped: the mapping alone would keep the lock.
func letGo(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	return errors.Join(err, f.Close())
}
