//go:build !linux && !darwin

package eventlog

import (
	"errors"
	"os"
)

// FreeBytes returns 0 bytes and errors.ErrUnsupported: this system cannot be asked.
func FreeBytes(string) (uint64, error) { return 0, errors.ErrUnsupported }

// nameOf cannot tell whether an open file has a name still.
func nameOf(*os.File) (named bool, path string) { return false, "" }
