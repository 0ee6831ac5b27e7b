//go:build unix

package ignore

import (
	"errors"
	"syscall"
)

// isLink reports whether a path is a symbolic link. Package os would allocate what it finds of it: each word of a command is asked of,
// and few are files.
func isLink(path string) bool {
	var found syscall.Stat_t
	err := syscall.Lstat(path, &found)
	for errors.Is(err, syscall.EINTR) {
		err = syscall.Lstat(path, &found)
	}
	return err == nil && found.Mode&syscall.S_IFMT == syscall.S_IFLNK
}
