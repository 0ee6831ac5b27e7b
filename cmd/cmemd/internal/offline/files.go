package offline

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

// CopyTo has write fill the file at path, which is there only when it is whole and on disk.
func CopyTo(a *terminal.App, path string, force bool, write func(io.Writer) error) error {
	if _, err := os.Lstat(path); err == nil && !force {
		return terminal.Advise(fmt.Errorf("%s is there already", path), "name another file, or replace it with --force")
	}
	n, err := WriteWhole(path, write)
	if err != nil {
		return err
	}
	return a.Tell(map[string]any{"file": path, "bytes": n}, "wrote %s to %s\n", terminal.Size(n), terminal.VisibleLine(path))
}

// WriteWhole has write fill a new file, readable by this user only, and puts it in the place of path once it is synced.
func WriteWhole(path string, write func(io.Writer) error) (n int64, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name()) // when it was renamed there is none
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		n, err = f.Seek(0, io.SeekCurrent)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	return n, os.Rename(f.Name(), path)
}

func ImportFile(a *terminal.App, name string) (in io.ReadCloser, total int64, err error) {
	if name == "-" {
		return io.NopCloser(a.In), 0, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	if info, err := f.Stat(); err == nil {
		total = info.Size()
	}
	return f, total, nil
}
