//go:build linux || darwin

package doctor

import "syscall"

// freeDisk is how many bytes an ordinary user may still write to the file system of path.
func freeDisk(path string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return 0, err
	}
	return int64(min(s.Bavail*uint64(s.Bsize), 1<<62)), nil
}
