//go:build !unix

package process

import (
	"os"
	"os/exec"
)

// OwnGroup does nothing here: the system has no process groups.
func OwnGroup(*exec.Cmd) {}

// EndGroup kills p alone: nothing here can be asked to end.
func EndGroup(p *os.Process) error { return p.Kill() }

// KillGroup kills p alone; os.ErrProcessDone if it has ended.
func KillGroup(p *os.Process) error { return p.Kill() }

// Detach leaves cmd as it is.
func Detach(*exec.Cmd) {}
