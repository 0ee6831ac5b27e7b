//go:build unix

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// isUnread reports whether f is a pipe, or a terminal, whose other end is closed. Whether f can be written to is asked with it: macOS says
// nothing of a pipe of which nothing is asked.
func isUnread(f *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLOUT}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
}
