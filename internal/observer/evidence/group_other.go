//go:build !unix

package evidence

import (
	"os"
	"os/exec"
)

// ownGroup does nothing here: the system has no process groups.
func ownGroup(*exec.Cmd) {}

// killGroup kills p alone.
func killGroup(p *os.Process) error { return p.Kill() }
