//go:build !linux && !darwin

package main

import (
	"errors"
	"os/exec"
)

// bootID is unknown here: no process is ever signalled by its number.
func bootID() string { return "" }

// processStart is unknown here.
func processStart(int) (string, error) { return "", errors.ErrUnsupported }

// detach leaves cmd as it is.
func detach(*exec.Cmd) {}
