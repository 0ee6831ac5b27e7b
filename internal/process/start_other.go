//go:build !linux && !darwin

package process

import "errors"

// BootID is unknown here: no process is ever signalled by its number.
func BootID() string { return "" }

// StartTime is unknown here.
func StartTime(int) (string, error) { return "", errors.ErrUnsupported }
