//go:build !linux

package process

import "os/exec"

// DieWithParent does nothing here: the system does not end a process with its parent.
func DieWithParent(*exec.Cmd) {}
