//go:build unix

package model

import (
	"os/exec"
	"syscall"
)

// ownGroup gives cmd a process group of its own, which killGroup ends as a whole.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return killGroup(cmd) }
}

// killGroup kills what is left of the group of cmd, which was started. Its number is not given to anybody else as long as the
// group has a member.
func killGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
