//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package relay

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// tryLock takes the lock of the file at path, which it makes if need be, or returns errLocked.
func tryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return f, nil
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errLocked
	}
	return nil, errors.Join(err, f.Close())
}

// unlock gives a lock back, also where a child that is just being started still has a copy of the file.
func unlock(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	_ = f.Close()
}

// refused reports whether err says that nobody listens at an existing socket.
func refused(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOTSOCK)
}

// crowded reports whether err says that too many wait to be accepted at the socket just now.
func crowded(err error) bool {
	return errors.Is(err, syscall.EAGAIN)
}

// detach makes cmd outlive this process and its terminal.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}
