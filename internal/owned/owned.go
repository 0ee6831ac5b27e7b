package owned

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrOthers is wrapped in what this package returns for what another user made or may change.
var ErrOthers = errors.New("others may write there")

// Folder returns an error wrapping ErrOthers unless dir itself, no link to it, is a folder of this user's that nobody else
// may write to.
func Folder(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || !ownersAlone(info) {
		return fmt.Errorf("%w: %s", ErrOthers, dir)
	}
	return nil
}

// File returns an error wrapping ErrOthers unless path itself, no link to it, is a regular file of this user's that nobody
// else may write to, and that has no second name.
func File(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || !ownersAlone(info) || links(info) > 1 {
		return fmt.Errorf("%w: %s", ErrOthers, path)
	}
	return nil
}

// Parents returns an error wrapping ErrOthers if another user of this machine could rename, replace or remove what is on the
// way to a folder, or the folder itself. Folders with the sticky bit, like /tmp, let nobody do that. at is the folder that
// is open to them.
func Parents(folder string) (at string, err error) {
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return "", err
	}
	for at := real; ; at = filepath.Dir(at) {
		why, err := writableByOthers(at)
		if err != nil {
			return at, err
		}
		if why != "" {
			return at, fmt.Errorf("%w: %s, on the way to %s, %s", ErrOthers, at, folder, why)
		}
		if filepath.Dir(at) == at {
			return "", nil
		}
	}
}
