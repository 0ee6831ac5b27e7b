//go:build unix

package process

import (
	"os"
	"os/exec"
	"syscall"
)

// OwnGroup gives cmd, which has not started, a process group of its own, so that a signal to ours spares it and one to it
// reaches its children.
func OwnGroup(cmd *exec.Cmd) { attributes(cmd).Setpgid = true }

// EndGroup asks the group that OwnGroup made for p to end.
func EndGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGTERM) }

// KillGroup kills what is left of the group that OwnGroup made for p. Its number is not given to anybody else as long as the
// group has a member.
func KillGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }

// Detach makes cmd, which has not started, outlive this process and its terminal.
func Detach(cmd *exec.Cmd) { attributes(cmd).Setsid = true }

func attributes(cmd *exec.Cmd) *syscall.SysProcAttr {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	return cmd.SysProcAttr
}
