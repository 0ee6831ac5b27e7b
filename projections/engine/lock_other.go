//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package engine

import "os"

// lock does nothing where an open file cannot be deleted: bbolt's own lock is enough there.
func lock(*os.File) error { return nil }

// letGo closes a file that is still mapped.
func letGo(f *os.File) error { return f.Close() }
