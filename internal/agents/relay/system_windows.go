package relay

import (
	"errors"
	"os/exec"
	"syscall"
)

const (
	wsaRefused      = syscall.Errno(10061)
	detachedProcess = 0x00000008
)

// refused reports whether err says that nobody listens at an existing socket.
func refused(err error) bool { return errors.Is(err, wsaRefused) }

// crowded reports whether err says that too many wait to be accepted at the socket just now.
func crowded(error) bool { return false }

// detach makes cmd outlive this process and its console.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}
