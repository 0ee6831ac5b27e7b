package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/filelock"
	"github.com/cmemd/cmemd/internal/transient"
)

// ErrDamaged is a file, or a part of it, that is not what was written. A reader that meets it gets an error, and Run
// makes the file anew.
var ErrDamaged = transient.Mark(errors.New("views are damaged"))

// ErrNotOpen is a file that was exchanged, and can neither be read nor written now.
var ErrNotOpen = errors.New("not opened again after it was exchanged")

// ErrMoved is a file or folder that has another name by now, or none: what is at its path belongs to somebody else, perhaps to
// another daemon, and is left alone.
var ErrMoved = errors.New("is not where it was opened any more: stop the daemon, and start it where its home is")

// Damaged is ErrDamaged with what is wrong: a fold or a reader returns it where a stored value cannot be read.
func Damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

const (
	// lockTimeout is how long a file that another process holds is waited for: a daemon that is being replaced.
	lockTimeout = time.Second

	// CopySuffix is appended to the name of a File for the copy that is to take its place.
	CopySuffix = ".compact"

	// copyTx bounds one transaction of the copy, in bytes: as much is in memory at once.
	copyTx = 16 << 20
)

// File is an open bbolt file whose content can be made again. What is not as it was written is ErrDamaged, never the end of
// the program. View may be called by several goroutines at once, and beside one of Update and Copy.
type File struct {
	path   string
	synced bool
	db     *bolt.DB
	file   *os.File    // that db has open
	held   os.FileInfo // of it
	wedged atomic.Bool // a fault in the beginning of a transaction left db's own locks held: whoever asked it would wait for ever
}

// OpenFile opens the file at path, or makes it. What a killed program left of a copy is deleted. If synced, an Update is on
// disk when it returns; otherwise when the file is closed. Errors: ErrDamaged, that another process has it, the file system's.
func OpenFile(path string, synced bool) (*File, error) {
	f := &File{path: path, synced: synced}
	if err := durable.Remove(path + CopySuffix); err != nil {
		return nil, err
	}
	if err := f.open(); err != nil {
		return nil, err
	}
	return f, nil
}

// open opens the path. The free list is kept in the file: to rebuild it bbolt reads the whole file at every start, in
// a goroutine of its own, where a damaged page would end the program.
func (f *File) open() error {
	if err := verifyFile(f.path, false); err != nil {
		return err
	}
	err := Guard(func() error {
		db, err := bolt.Open(f.path, 0o600, &bolt.Options{
			Timeout: lockTimeout, NoSync: !f.synced, NoGrowSync: !f.synced, FreelistType: bolt.FreelistMapType, NoStatistics: true,
			OpenFile: f.hold,
		})
		if err == nil {
			f.db = db
		}
		return err
	})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return inUse(f.path)
	case err == nil, durable.IsOfSystem(err), errors.Is(err, ErrDamaged):
		return err
	}
	return Damaged("%v", err)
}

// hold opens the file, and notes which it is.
func (f *File) hold(name string, flag int, perm os.FileMode) (*os.File, error) {
	file, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	if f.held, err = file.Stat(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	f.file = file
	f.wedged.Store(false)
	return file, nil
}

// CheckInPlace is ErrMoved if the path does not name the open file any more.
func (f *File) CheckInPlace() error { return CheckNotMoved(f.path, f.held) }

// CheckNotMoved is ErrMoved if path does not name the file or folder that is held.
func CheckNotMoved(path string, held os.FileInfo) error {
	now, err := os.Stat(path)
	if err == nil && os.SameFile(now, held) {
		return nil
	}
	return fmt.Errorf("%s %w", path, ErrMoved)
}

// View runs fn in a read transaction.
func (f *File) View(fn func(*bolt.Tx) error) error {
	return f.within(false, func(tx *bolt.Tx) error {
		defer tx.Rollback()
		return fn(tx)
	})
}

// Update runs fn in a transaction that is committed if it returns nil.
func (f *File) Update(fn func(*bolt.Tx) error) error {
	return f.within(true, func(tx *bolt.Tx) error {
		defer tx.Rollback() // after a commit it does nothing
		if err := fn(tx); err != nil {
			return err
		}
		return tx.Commit()
	})
}

// within runs fn with a transaction that it has to end.
func (f *File) within(writes bool, fn func(*bolt.Tx) error) error {
	if f.wedged.Load() {
		return f.errWedged()
	}
	began := false
	err := Guard(func() error {
		tx, err := f.db.Begin(writes)
		if began = true; err != nil {
			return err
		}
		return fn(tx)
	})
	if !began {
		f.wedged.Store(true)
	}
	return err
}

func (f *File) errWedged() error { return Damaged("%s was cut while it was open", f.path) }

// Copy writes what the file holds to a second one beside it, without unused pages. Nothing may be written meanwhile. It may
// return ErrMoved.
func (f *File) Copy() (*File, error) {
	if err := f.CheckInPlace(); err != nil {
		return nil, err
	}
	if f.wedged.Load() {
		return nil, f.errWedged()
	}
	path := f.path + CopySuffix
	if err := durable.Remove(path); err != nil {
		return nil, err
	}
	to := &File{path: path, synced: f.synced}
	if err := to.open(); err != nil {
		return nil, err
	}
	err := Guard(func() error { return bolt.Compact(to.db, f.db, copyTx) })
	if err = errors.Join(err, to.Close()); err != nil {
		return nil, errors.Join(err, to.Discard())
	}
	return to, nil
}

// Exchange puts a file that is closed in the place of this one, which nobody may use meanwhile. ErrNotOpen: it could not be
// opened again, beside ErrDamaged or what the system says. ErrMoved: nothing was done.
func (f *File) Exchange(by *File) error {
	if err := f.CheckInPlace(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	err := os.Rename(by.path, f.path)
	if err == nil && f.synced {
		err = durable.SyncDir(filepath.Dir(f.path))
	}
	if openErr := f.open(); openErr != nil {
		return errors.Join(err, fmt.Errorf("%w: %w", ErrNotOpen, openErr))
	}
	return err
}

// Close closes the file, synced or not.
func (f *File) Close() error {
	if f.wedged.Load() {
		return filelock.Release(f.file) // what maps it stays until the program ends
	}
	return Guard(f.db.Close)
}

// Discard deletes a file that is closed.
func (f *File) Discard() error { return durable.Remove(f.path) }

// Guard runs f, which touches mapped pages. A page that is not there or not what it should be is ErrDamaged.
func Guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = Damaged("%s", firstLine(fmt.Sprint(r)))
		}
	}()
	if err = f(); ofStructure(err) {
		err = Damaged("%v", err)
	}
	return err
}

// ofStructure reports whether bbolt found something where the views had put something else, or nothing, because the file could
// not be opened again.
func ofStructure(err error) bool {
	return isAny(err, []error{
		bolterrors.ErrDatabaseNotOpen,
		bolterrors.ErrIncompatibleValue, bolterrors.ErrBucketExists, bolterrors.ErrBucketNotFound,
		bolterrors.ErrInvalid, bolterrors.ErrChecksum, bolterrors.ErrVersionMismatch,
	})
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
