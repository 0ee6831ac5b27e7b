//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package homedir

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes f for this process as long as it is open. The error is ErrLocked if another has it.
func tryLock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}
