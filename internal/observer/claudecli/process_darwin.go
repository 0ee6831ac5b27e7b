package claudecli

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// bootID names the present boot of the machine; empty if that is unknown.
func bootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}

// processStart returns when a process started, in seconds and microseconds.
func processStart(pid int) (string, error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return "", err
	}
	t := info.Proc.P_starttime
	return fmt.Sprintf("%d.%06d", t.Sec, t.Usec), nil
}

// killMarked finds nobody: the system shows no process's environment.
func killMarked(string) bool { return false }
