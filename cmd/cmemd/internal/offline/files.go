package offline

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

// CopyTo is homedir.WriteFile, and says what was written.
func CopyTo(a *terminal.App, path string, force bool, write func(io.Writer) error) error {
	n, err := homedir.WriteFile(a, path, force, write)
	if err != nil {
		return err
	}
	return a.ShowLine(map[string]any{"file": path, "bytes": n}, "wrote %s to %s\n", terminal.Size(n), terminal.VisibleLine(path))
}

// OpenImport opens the file of that name, or standard input for "-"; total is how long it is, or 0.
func OpenImport(a *terminal.App, name string) (in io.ReadCloser, total int64, err error) {
	if name == "-" {
		return io.NopCloser(a.In), 0, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		return nil, 0, errors.Join(&fs.PathError{Op: "read", Path: name, Err: syscall.EISDIR}, f.Close())
	default:
		total = info.Size()
	}
	return f, total, nil
}
