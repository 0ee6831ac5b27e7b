//go:build linux || darwin

package eventlog

import (
	"fmt"
	"os"
	"syscall"
)

// FreeBytes returns how many bytes an ordinary user may still write to the file system that holds path. Its error is that of
// asking the system: an fs.ErrNotExist where there is no such path. Where a system cannot be asked it is errors.ErrUnsupported.
// It is safe for concurrent use.
func FreeBytes(path string) (uint64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil
}

// nameOf reports whether an open file has a name in some folder still, and which, where the system tells.
func nameOf(file *os.File) (named bool, path string) {
	info, err := file.Stat()
	if err != nil {
		return false, ""
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || s.Nlink == 0 {
		return false, ""
	}
	path, err = os.Readlink(fmt.Sprintf("/proc/self/fd/%d", file.Fd())) // Linux alone has it
	if now, statErr := os.Stat(path); err != nil || statErr != nil || !os.SameFile(now, info) {
		return true, ""
	}
	return true, path
}
