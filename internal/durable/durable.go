// Package durable puts files and their names on disk so that a loss of power, at any moment, leaves what was there before
// or what was asked for, never half of it.
//
// It imports the standard library only: what agents start at every tool call uses it too. All functions may be called from
// several goroutines and processes at once; of two replacements of one file, the last to be renamed stays.
package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// NewPrefix begins the names of the files that Replace and Swap write before they rename them. One that is still there
// was left by a process killed in between, and may be deleted.
const NewPrefix = ".new-"

// Replace makes data the content of the file at path, with that mode, in one step, and returns when that is on disk. The
// folder must exist. On an error the file is as it was, unless it was the folder's sync that failed: then it may be either.
// A symbolic link at path is replaced, not followed.
func Replace(path string, data []byte, mode fs.FileMode) error {
	_, err := ReplaceWith(path, mode, whole(data))
	return err
}

// ReplaceWith is Replace with what write writes, and returns how many bytes that are. An error of write's is returned as it is.
func ReplaceWith(path string, mode fs.FileMode, write func(io.Writer) error) (size int64, err error) {
	if size, err = replace(path, mode, write, (*os.File).Sync); err != nil {
		return 0, err
	}
	return size, SyncDir(filepath.Dir(path))
}

func whole(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

// Swap is Replace without the wait for the disk: readers see the old content or the new, but a loss of power may leave the
// file empty. It is for what can be made again, where a sync would cost more than that.
func Swap(path string, data []byte, mode fs.FileMode) error {
	_, err := replace(path, mode, whole(data), func(*os.File) error { return nil })
	return err
}

// Copy is Replace with what the regular file at from holds, or the one that a link there leads to; else it returns ErrIrregular.
func Copy(from, to string, mode fs.FileMode) error {
	_, err := ReplaceWith(to, mode, contentOf(from))
	return err
}

// SwapCopy is to Copy what Swap is to Replace.
func SwapCopy(from, to string, mode fs.FileMode) error {
	_, err := replace(to, mode, contentOf(from), func(*os.File) error { return nil })
	return err
}

func contentOf(path string) func(io.Writer) error {
	return func(w io.Writer) error {
		f, _, err := OpenLinked(path)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(w, f)
		return err
	}
}

func replace(path string, mode fs.FileMode, write func(io.Writer) error, settle func(*os.File) error) (size int64, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), NewPrefix+filepath.Base(path)+"-*") // 0600
	if refused, ok := errors.AsType[*fs.PathError](err); ok {
		refused.Path = path // which the caller knows
	}
	if err != nil {
		return 0, err
	}
	err = f.Chmod(mode)
	if err == nil {
		err = write(f)
	}
	if err == nil {
		size, err = f.Seek(0, io.SeekCurrent)
	}
	if err == nil {
		err = settle(f)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return 0, errors.Join(err, os.Remove(f.Name()))
	}
	return size, nil
}

// Remove removes the file at path. One that is not there is no error.
func Remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Sweep removes from dir what killed processes left of files that they were replacing: those that NewPrefix begins and that
// nobody has changed for age, nor will for age by a clock that was set back. It returns how many it removed. A dir that is not
// there has none.
func Sweep(dir string, now time.Time, age time.Duration) (removed int, err error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	for _, f := range files {
		if !strings.HasPrefix(f.Name(), NewPrefix) {
			continue
		}
		info, infoErr := f.Info()
		if infoErr != nil || !info.Mode().IsRegular() || now.Sub(info.ModTime()).Abs() < age {
			continue
		}
		if rmErr := Remove(filepath.Join(dir, f.Name())); rmErr != nil {
			err = errors.Join(err, rmErr)
			continue
		}
		removed++
	}
	return removed, err
}

// nameTime is how times stand in names of files: they sort, and no system minds them.
const nameTime = "20060102T150405Z"

// NameAt is path, a mark and a time, and a number where somebody has that name already: what a file that is kept may be called.
func NameAt(path, mark string, at time.Time) string {
	first := path + mark + at.UTC().Format(nameTime)
	name := first
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); err != nil {
			return name
		}
		name = fmt.Sprintf("%s-%d", first, n)
	}
}

// AsideMark stands in the name of a file that was set aside, between the name that it had and the time.
const AsideMark = ".aside-"

// SetAside gives the file at path another name, of AsideMark and the time at, and returns it once that is on disk.
func SetAside(path string, at time.Time) (kept string, err error) {
	kept = NameAt(path, AsideMark, at)
	if err := os.Rename(path, kept); err != nil {
		return "", err
	}
	return kept, SyncDir(filepath.Dir(path))
}

// SyncDir returns when the names in dir are on disk. Where the system cannot sync a folder (Windows, some file systems), it
// does nothing.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrInvalid) {
		err = nil
	}
	return errors.Join(err, d.Close())
}
