package relay

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

const (
	errSharingViolation = syscall.Errno(32)
	wsaRefused          = syscall.Errno(10061)
	detachedProcess     = 0x00000008
)

// tryLock opens the file at path, which it makes if need be, for this process alone, or returns errLocked.
func tryLock(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	const access = syscall.GENERIC_READ | syscall.GENERIC_WRITE
	h, err := syscall.CreateFile(name, access, 0, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, errSharingViolation) {
		return nil, errLocked
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(h), path), nil
}

// unlock gives a lock back.
func unlock(f *os.File) { _ = f.Close() }

// refused reports whether err says that nobody listens at an existing socket.
func refused(err error) bool { return errors.Is(err, wsaRefused) }

// crowded reports whether err says that too many wait to be accepted at the socket just now.
func crowded(error) bool { return false }

// detach makes cmd outlive this process and its console.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}
