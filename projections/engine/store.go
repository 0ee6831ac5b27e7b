package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// ErrDamaged is a file, or a part of it, that is not what was written. A reader that meets it gets an error, and Run
// makes the file anew.
var ErrDamaged = errors.New("views are damaged")

// Damaged is ErrDamaged with what is wrong: a fold or a reader returns it where a stored value cannot be read.
func Damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

const (
	fileName = "views.db"

	// lockTimeout is how long a file that another process holds is waited for: a daemon that is being replaced.
	lockTimeout = time.Second
)

// store is the open file.
type store struct {
	path string
	db   *bolt.DB
	mark *mark
}

// openStore opens the file in dir, or makes it. What cannot be vouched for is deleted first, and why says so.
func openStore(dir, bootID string) (s *store, why string, err error) {
	path := filepath.Join(dir, fileName)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, "", err
	}
	m, err := takeMark(filepath.Join(dir, markName))
	if err != nil {
		return nil, "", err
	}
	s, why, err = openTrusted(path, m.distrust(path, bootID))
	if err == nil {
		err = discard(path + compactSuffix) // what was killed while it compacted
	}
	if err == nil {
		s.mark = m
		err = m.set(bootID)
	}
	if err != nil {
		if s != nil {
			s.abandon()
		}
		return nil, why, errors.Join(err, m.file.Close())
	}
	return s, why, nil
}

// openTrusted opens path, or makes it anew if there is a reason to, or if one turns up.
func openTrusted(path, why string) (*store, string, error) {
	if why == "" {
		s, err := openFile(path)
		if !errors.Is(err, ErrDamaged) {
			return s, "", err
		}
		why = err.Error()
	}
	if err := discard(path); err != nil {
		return nil, why, err
	}
	s, err := openFile(path)
	return s, why, err
}

func discard(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// openFile opens path. The free list is kept in the file: to rebuild it bbolt reads the whole file at every start, in
// a goroutine of its own, where a damaged page would end the program.
func openFile(path string) (*store, error) {
	if err := verifyFile(path, false); err != nil {
		return nil, err
	}
	var db *bolt.DB
	err := guard(func() (err error) {
		db, err = bolt.Open(path, 0o600, &bolt.Options{
			Timeout: lockTimeout, NoSync: true, NoGrowSync: true, FreelistType: bolt.FreelistMapType, NoStatistics: true,
		})
		return err
	})
	switch {
	case err == nil:
		return &store{path: path, db: db}, nil
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, inUse(path)
	case ofSystem(err) || errors.Is(err, ErrDamaged):
		return nil, err
	}
	return nil, Damaged("%v", err)
}

// ofSystem reports whether the operating system refused, which says nothing about what is in the file.
func ofSystem(err error) bool {
	var path *fs.PathError
	var number syscall.Errno
	return errors.As(err, &path) || errors.As(err, &number)
}

// guard runs f, which touches mapped pages. A page that is not there or not what it should be is ErrDamaged.
func guard(f func() error) (err error) {
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

// ofStructure reports whether bbolt found something where the views had put something else.
func ofStructure(err error) bool {
	for _, e := range []error{
		bolterrors.ErrIncompatibleValue, bolterrors.ErrBucketExists, bolterrors.ErrBucketNotFound,
		bolterrors.ErrInvalid, bolterrors.ErrChecksum, bolterrors.ErrVersionMismatch,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

func (s *store) view(f func(*bolt.Tx) error) error {
	return guard(func() error { return s.db.View(f) })
}

func (s *store) update(f func(*bolt.Tx) error) error {
	return guard(func() error { return s.db.Update(f) })
}

// close syncs the file, and then takes the mark away.
func (s *store) close() error {
	err := guard(s.db.Sync)
	if cerr := guard(s.db.Close); err == nil {
		err = cerr
	}
	if err == nil {
		err = s.mark.clear()
	}
	return errors.Join(err, s.mark.file.Close())
}

// abandon lets the file go, whatever state it is in. The mark stays.
func (s *store) abandon() {
	_ = guard(s.db.Close)
	if s.mark != nil {
		_ = s.mark.file.Close()
	}
}
