//go:build unix

package claudecli

import "syscall"

// lives reports whether a process or one of its group is there. A process that has ended and is not looked at counts: a
// turn looks at its own.
func lives(pid int) bool {
	return syscall.Kill(-pid, 0) == nil || syscall.Kill(pid, 0) == nil
}
