//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package relay

import (
	"errors"
	"os/exec"
	"syscall"
)

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
