//go:build !linux && !darwin

package eventlog

import (
	"errors"
	"os"
)

// FreeBytes is not known here; the disk counts as having room.
func FreeBytes(string) (uint64, error) { return 0, errors.ErrUnsupported }

// letGo closes a file that is still mapped.
func letGo(file *os.File) error { return file.Close() }
