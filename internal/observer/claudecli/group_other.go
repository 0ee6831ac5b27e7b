//go:build !unix

package claudecli

import (
	"os"
	"os/exec"
)

// ownGroup does nothing here: the system has no process groups.
func ownGroup(*exec.Cmd) {}

// endGroup kills pid alone: nothing here can be asked to end.
func endGroup(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}

// killGroup has nothing to kill: a group is its one process, and that has ended.
func killGroup(int) error { return nil }
