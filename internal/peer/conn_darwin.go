package peer

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

var errNoProcess = errors.New("peer: the other end is no process that is known")

// otherEnd is the process that connected, and its user.
func otherEnd(conn net.Conn) (pid, uid int, err error) {
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return 0, 0, errNoProcess
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var cred *unix.Xucred
	failed := raw.Control(func(fd uintptr) {
		if pid, err = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID); err == nil {
			cred, err = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		}
	})
	if err = errors.Join(failed, err); err != nil {
		return 0, 0, err
	}
	return pid, int(cred.Uid), nil
}

// userOf would be the user at the other end of a loopback connection. Nothing in this system's documents tells it.
func userOf(net.Conn) (uid int, ok bool) { return 0, false }
