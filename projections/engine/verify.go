package engine

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/cmemd/cmemd/internal/boltcheck"
	"github.com/cmemd/cmemd/internal/durable"
)

// tableDepth is how deep buckets nest: the root holds views, these hold tables, these hold values.
const tableDepth = 2

// verifyFile returns ErrDamaged if the file at path is no whole database. None, or an empty one, is whole. A deep check
// reads the leaves of the tables too, and holds each value against its checksum. Other errors are the system's, and say nothing about what is in the file.
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
	check := boltcheck.Config{Whole: true, Depth: tableDepth}
	if deep {
		check.Deep, check.Strict, check.Value = true, true, verifyValue
	}
	err = boltcheck.Check(file, info.Size(), check)
	if err == nil || durable.IsOfSystem(err) {
		return err
	}
	return Damaged("%v", err)
}

// verifyValue holds a value of the buckets of those names against its checksum.
func verifyValue(buckets []string, key, stored []byte) error {
	var of sumSeed
	for _, name := range buckets {
		of = of.in(strings.TrimSuffix(name, secondCopy))
	}
	if len(buckets) == 1 {
		of = of.in("") // a checkpoint
	}
	_, err := of.checkSum(key, stored)
	return err
}
