package claudecli

import (
	"os/exec"
	"syscall"
)

// ownGroup gives cmd a process group of its own, and has the system kill it when the thread that starts it ends, be it with
// the whole process.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
