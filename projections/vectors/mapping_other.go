//go:build !unix

package vectors

import (
	"fmt"
	"io"
	"os"
)

// mapping is a copy of a file's bytes in memory; wrote keeps it like the file.
type mapping []byte

// mapFile reads the first size bytes of f, which has at least as many.
func mapFile(f *os.File, size int) (mapping, error) {
	m := make(mapping, size)
	if _, err := f.ReadAt(m, 0); err != nil && err != io.EOF {
		return nil, fmt.Errorf("vectors: read: %w", err)
	}
	return m, nil
}

// wrote says that data was written to the file at an offset.
func (m mapping) wrote(data []byte, at int) { copy(m[at:], data) }

// unmap ends the mapping; nobody may look at it any more.
func (m mapping) unmap() error { return nil }
