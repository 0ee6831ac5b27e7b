//go:build !unix

package model

import "os/exec"

// ownGroup does nothing here: the system has no process groups. A command is killed alone.
func ownGroup(*exec.Cmd) {}

// killGroup has nothing to kill: a group is its one process, and that has ended.
func killGroup(*exec.Cmd) error { return nil }
