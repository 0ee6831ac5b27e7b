//go:build !unix

package ignore

import (
	"io/fs"
	"os"
)

// isLink reports whether a path is a symbolic link.
func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}
