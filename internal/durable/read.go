package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Errors of ReadBounded that no second reading will mend.
var (
	ErrIrregular = errors.New("not a regular file")
	ErrTooLong   = errors.New("too long")
)

// OpenRegular opens a regular file for reading, and says how it was just before. It returns ErrIrregular for anything else, which it
// does not open. The caller closes the file.
func OpenRegular(path string) (*os.File, os.FileInfo, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, &fs.PathError{Op: "open", Path: path, Err: ErrIrregular}
	}
	f, err := os.Open(path)
	return f, info, err
}

// OpenLinked is OpenRegular of what a symbolic link at path leads to, and of path itself where it is none.
func OpenLinked(path string) (*os.File, os.FileInfo, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, nil, err
	}
	return OpenRegular(real)
}

// ReadLinked is ReadBounded of what a symbolic link at path leads to, and of path itself where it is none.
func ReadLinked(path string, limit int64) ([]byte, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	return ReadBounded(real, limit)
}

// ReadBounded reads a regular file of at most limit bytes. It returns ErrIrregular for anything else, which it does not
// open: a pipe would wait for its writer, and a link is not followed. It returns ErrTooLong for a longer file.
func ReadBounded(path string, limit int64) ([]byte, error) {
	f, info, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, 0, min(info.Size(), limit)+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > limit:
			return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("%w: more than %d bytes", ErrTooLong, limit)}
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, err
		case len(data) == cap(data):
			data = append(data, 0)[:len(data)]
		}
	}
}

// IsUnfit reports whether err is that of ReadBounded for a file that no second reading will mend: the file is to blame, and not the disk.
func IsUnfit(err error) bool { return errors.Is(err, ErrIrregular) || errors.Is(err, ErrTooLong) }

// IsOfSystem reports whether an error is the operating system's refusal, which says nothing about what is in a file.
func IsOfSystem(err error) bool {
	_, path := errors.AsType[*fs.PathError](err)
	_, number := errors.AsType[syscall.Errno](err)
	return path || number
}

// ReadDir lists a folder; one that is not there is empty.
func ReadDir(dir string) ([]fs.DirEntry, error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return files, err
}
