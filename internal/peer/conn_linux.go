package peer

import (
	"errors"
	"net"
	"syscall"
)

var errNoProcess = errors.New("peer: the other end is no process that is known")

// otherEnd is the process that connected, and its user.
func otherEnd(conn net.Conn) (pid, uid int, err error) {
	unix, ok := conn.(*net.UnixConn)
	if !ok {
		return 0, 0, errNoProcess
	}
	raw, err := unix.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var cred *syscall.Ucred
	failed := raw.Control(func(fd uintptr) {
		cred, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err = errors.Join(failed, err); err != nil {
		return 0, 0, err
	}
	if cred.Pid <= 0 {
		return 0, 0, errNoProcess // of another namespace
	}
	return int(cred.Pid), int(cred.Uid), nil
}
