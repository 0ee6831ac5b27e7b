//go:build !linux && !darwin

package claudecli

import "errors"

// bootID is unknown here: no process is ever signalled by its number.
func bootID() string { return "" }

// processStart is unknown here.
func processStart(int) (string, error) { return "", errors.ErrUnsupported }

// killMarked finds nobody: the system shows no process's environment.
func killMarked(string) bool { return false }
