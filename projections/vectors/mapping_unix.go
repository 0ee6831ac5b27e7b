//go:build unix

package vectors

import (
	"fmt"
	"os"
	"syscall"
)

// mapping is a file's bytes as they are now: what is written to the file is seen in it.
type mapping []byte

// mapFile maps the first size bytes of f, which has at least as many.
func mapFile(f *os.File, size int) (mapping, error) {
	m, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("vectors: map: %w", err)
	}
	return m, nil
}

// wrote says that data was written to the file at an offset.
func (m mapping) wrote([]byte, int) {}

// unmap ends the mapping; nobody may look at it any more.
func (m mapping) unmap() error {
	if m == nil {
		return nil
	}
	return syscall.Munmap(m)
}
