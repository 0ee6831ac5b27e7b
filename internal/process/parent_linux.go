package process

import (
	"os/exec"
	"syscall"
)

// DieWithParent has the system kill cmd, which has not started, when the thread that starts it ends, be it with the whole
// process.
func DieWithParent(cmd *exec.Cmd) { attributes(cmd).Pdeathsig = syscall.SIGKILL }
