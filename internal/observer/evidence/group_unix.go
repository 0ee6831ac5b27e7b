//go:build unix

package evidence

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup gives cmd a process group of its own, so that a signal to ours spares it and one to it reaches its children.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills p, which ownGroup set up, and its children.
func killGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
