package main

import (
	"os"

	"github.com/rogpeppe/go-internal/testscript"
)

// smallDisk DIR SIZE makes a folder on a file system of its own.
func smallDisk(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: smalldisk DIR SIZE")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o700))
	unmount, err := mount(dir, args[1])
	ts.Check(err)
	ts.Defer(unmount)
}

// canMount reports whether smallDisk works here: it needs Linux, and root.
func canMount() (bool, error) {
	dir, err := os.MkdirTemp("", "cmemdtest")
	if err != nil {
		return false, err
	}
	defer os.Remove(dir)
	unmount, err := mount(dir, "64k")
	if err != nil {
		return false, nil
	}
	unmount()
	return true, nil
}
