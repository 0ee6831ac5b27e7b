//go:build unix && !linux

package claudecli

import (
	"os/exec"
	"syscall"
)

// ownGroup gives cmd a process group of its own. The system does not end it with its parent: it ends with its turn, by its
// own time limit, or by Sweep.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
