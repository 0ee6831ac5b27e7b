//go:build !linux && !darwin

package eventlog

import "errors"

// freeBytes is not known here; the disk counts as having room.
func freeBytes(string) (uint64, error) { return 0, errors.ErrUnsupported }
