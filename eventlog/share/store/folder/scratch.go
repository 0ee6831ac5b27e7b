package folder

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"time"

	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/filelock"
	"github.com/cmemd/cmemd/internal/sleep"
)

// Syncthing passes over files and folders whose names begin with .syncthing. (lib/fs/tempname.go), and removes such files after a
// day.
const (
	scratch   = ".syncthing.cmemd"           // the folder in which files are written
	newPrefix = scratch + "/.syncthing.new-" // begins their names
	lockName  = scratch + "/.syncthing.lock"
)

// leftAfter is when a file that was being written is taken for a killed process's: a body takes seconds on a slow mount.
const leftAfter = time.Hour

// lockEvery is how often a lock that another has is tried: it is held for a look and a rename.
const lockEvery = 2 * time.Millisecond

// write puts a synced file into the scratch folder and returns its name. The caller renames or removes it.
func write(root *os.Root, data []byte) (name string, err error) {
	name = newName()
	f, err := openScratch(root, name, os.O_WRONLY|os.O_EXCL)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, root.Remove(name))
	}
	return name, nil
}

func newName() string { return newPrefix + rand.Text() }

// openScratch opens a file in the scratch folder, and makes both where they are not there.
func openScratch(root *os.Root, name string, flag int) (*os.File, error) {
	f, err := root.OpenFile(name, flag|os.O_CREATE, 0o600)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if err := root.Mkdir(scratch, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return root.OpenFile(name, flag|os.O_CREATE, 0o600)
}

// zero overwrites the file at name with zeros, syncs it and removes it. Syncthing may have removed it before.
func zero(root *os.Root, name string) error {
	f, err := root.OpenFile(name, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		_, err = f.Write(make([]byte, min(info.Size(), int64(maxFile))))
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close(), root.Remove(name))
}

// lock waits until no other process, and no other call of this one, holds the folder's lock. The caller closes the file to let go.
func lock(ctx context.Context, root *os.Root) (*os.File, error) {
	for {
		f, err := tryOnce(root)
		if f != nil || err != nil {
			return f, err
		}
		if err := sleep.For(ctx, lockEvery); err != nil {
			return nil, err
		}
	}
}

// tryOnce returns no file where another holds the lock, or where the file that was locked has no name any more.
func tryOnce(root *os.Root) (*os.File, error) {
	f, err := openScratch(root, lockName, os.O_RDWR)
	if err != nil {
		return nil, err
	}
	ours, err := filelock.Try(f)
	if ours && err == nil && isNamed(root, lockName, f) {
		return f, nil
	}
	return nil, errors.Join(err, f.Close())
}

// sweep removes what killed processes left half written.
func sweep(root *os.Root, now time.Time) error {
	dir, err := root.Open(scratch)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	names, err := dir.ReadDir(-1)
	for _, entry := range names {
		name := path.Join(scratch, entry.Name())
		info, infoErr := entry.Info()
		if name == lockName || infoErr != nil || !info.Mode().IsRegular() || now.Sub(info.ModTime()).Abs() < leftAfter {
			continue
		}
		if rmErr := root.Remove(name); rmErr != nil && !errors.Is(rmErr, fs.ErrNotExist) {
			err = errors.Join(err, rmErr)
		}
	}
	return err
}

// syncDir returns when the names in a folder of the root are on disk.
func syncDir(root *os.Root, dir string) error { return durable.SyncDir(path.Join(root.Name(), dir)) }

// isNamed reports whether name is that of an open file.
func isNamed(root *os.Root, name string, file *os.File) bool {
	held, heldErr := file.Stat()
	named, namedErr := root.Lstat(name)
	return heldErr == nil && namedErr == nil && os.SameFile(held, named)
}
