//go:build linux || darwin

package eventlog

import "syscall"

// freeBytes is what an ordinary user may still write to the file system that holds path.
func freeBytes(path string) (uint64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil
}
