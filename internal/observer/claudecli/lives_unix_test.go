//go:build unix && !linux

package claudecli

import "syscall"

// lives reports whether a process or one of its group is there.
func lives(pid int) bool {
	return syscall.Kill(-pid, 0) == nil || syscall.Kill(pid, 0) == nil
}
