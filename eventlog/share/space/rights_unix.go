//go:build unix

package space

import "os"

// readableByOthers reports whether another user may read the file at path.
func readableByOthers(path string) (bool, error) {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().Perm()&0o077 != 0, err
}
