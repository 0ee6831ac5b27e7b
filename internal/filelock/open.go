//go:build !windows

package filelock

import (
	"errors"
	"os"
)

// Open opens the file at path, which it makes if need be, and takes its lock. Where another has it free is false, and f nil.
// The caller gives it back by Release.
func Open(path string) (f *os.File, free bool, err error) {
	f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, err
	}
	if free, err = Try(f); !free || err != nil {
		return nil, false, errors.Join(err, f.Close())
	}
	return f, true, nil
}
