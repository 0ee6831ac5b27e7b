//go:build unix

package claudecli

import "syscall"

// endGroup asks the group that ownGroup made for pid to end.
func endGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGTERM) }

// killGroup kills what is left of the group that ownGroup made for pid. Its number is not given to anybody else as long as
// the group has a member.
func killGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGKILL) }
