package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Why a file is not changed.
var (
	// ErrReadOnly is a file that its owner may not write to.
	ErrReadOnly = errors.New("is read-only")

	// ErrNotOwn is a file of another user.
	ErrNotOwn = errors.New("belongs to another user")

	// ErrNames is a file that has another name, which would keep the old text. To write into the file as it stands would
	// keep both, and a crash in the middle could lose both.
	ErrNames = errors.New("has another name too (a hard link), which a change would cut off: " +
		"let it be a symbolic link to the other one, or a copy of its own")

	// ErrNotFile is a folder, a device, or a link to nothing.
	ErrNotFile = errors.New("is no file")

	// ErrTooLarge is a file that is larger than settings are.
	ErrTooLarge = errors.New("is larger than 32 MiB")

	// ErrChanged is a file that somebody changed since the plan was made.
	ErrChanged = errors.New("was changed meanwhile")
)

// MaxFile is the largest file of settings that is edited or looked at, in bytes. Claude Code's file of servers was seen with
// some megabytes.
const MaxFile = 32 << 20

// A FileError names the file that stands in the way.
type FileError struct {
	Path string
	Err  error
}

// Error says which file and why.
func (e *FileError) Error() string { return fmt.Sprintf("%s %v", e.Path, e.Err) }

// Unwrap returns the reason.
func (e *FileError) Unwrap() error { return e.Err }

// fileState is a file as it is.
type fileState struct {
	exists     bool
	text       []byte
	mode       fs.FileMode
	real       string // what the path leads to
	owned      bool   // it is this user's
	hardLinked bool   // it has other names
}

// read looks at the file at path, through links. One that is not there is no error.
func read(path string) (c fileState, err error) {
	c.real = path
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if info, err = os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return c, &FileError{path, fmt.Errorf("%w: the link leads nowhere", ErrNotFile)}
		}
		if err == nil {
			c.real, err = filepath.EvalSymlinks(path)
		}
	}
	switch {
	case err != nil:
		return c, err
	case !info.Mode().IsRegular():
		return c, &FileError{path, ErrNotFile}
	case info.Size() > MaxFile:
		return c, &FileError{path, ErrTooLarge}
	}
	c.exists, c.mode, c.owned, c.hardLinked = true, info.Mode().Perm(), isOwned(info), hasNames(info)
	c.text, err = os.ReadFile(c.real)
	return c, err
}

// writable says why c may not be replaced.
func (c fileState) writable(path string) error {
	switch {
	case !c.exists:
		return nil
	case c.mode&0o200 == 0:
		return &FileError{path, ErrReadOnly}
	case !c.owned:
		return &FileError{path, ErrNotOwn}
	case c.hardLinked:
		return &FileError{path, ErrNames}
	}
	return nil
}

// sum is that of what c holds; empty for a file that is not there.
func (c fileState) sum() string {
	if !c.exists {
		return ""
	}
	return sumOf(c.text)
}

// is reports whether c is what a change was planned from.
func (c fileState) is(ch Change) bool {
	return c.exists == (ch.Before != nil) && bytes.Equal(c.text, ch.Before)
}
