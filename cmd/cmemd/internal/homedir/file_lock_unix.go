//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package homedir

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes f for this process as long as it is open, and reports false if another has it.
func tryLock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
