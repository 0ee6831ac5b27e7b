package engine

import (
	"errors"
	"io/fs"
	"os"

	"github.com/cmemd/cmemd/internal/boltcheck"
)

// tableDepth is how deep buckets nest: the root holds views, these hold tables, these hold values.
const tableDepth = 2

// verifyFile returns ErrDamaged if the file at path is no whole database. None, or an empty one, is whole. A deep check
// reads the leaves of the tables too. Other errors are the system's, and say nothing about what is in the file.
func verifyFile(path string, deep bool) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	err = boltcheck.Check(file, info.Size(), boltcheck.Config{Whole: true, Depth: tableDepth, Deep: deep})
	if err == nil || ofSystem(err) {
		return err
	}
	return Damaged("%v", err)
}
