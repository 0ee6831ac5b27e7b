package claudemem

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/cmemd/cmemd/internal/sqlite"
)

// Errors of Open, and but for the first two of all that reads.
var (
	// ErrNotSQLite is a file that is no SQLite database.
	ErrNotSQLite = errors.New("claudemem: not an SQLite database")
	// ErrForeign is a database of another program.
	ErrForeign = errors.New("claudemem: not a database of claude-mem")
	// ErrUnwritable is a database that SQLite cannot read without writing beside it: it has to index the write-ahead log, or to take
	// back a change during which the database's program was killed.
	ErrUnwritable = errors.New("claudemem: a file has to be made beside the database, and cannot be")
	// ErrDamaged is a database of which not all can be read.
	ErrDamaged = errors.New("claudemem: the database is damaged")
	// ErrChanged is a database that nobody had open, until its program wrote to it while it was read.
	ErrChanged = errors.New("claudemem: the database was written to while it was read")
)

// busyTimeout is how long a lock of the program that writes the database is waited for.
const busyTimeout = 10 * time.Second

// DB is one database of claude-mem. It is not safe for concurrent use.
type DB struct {
	path      string      // as it was given
	file      string      // what is read
	openedAs  os.FileInfo // of the file when it was opened; nil: somebody may write to it
	truncated error       // the file is shorter than it says
	db        *sql.DB
	tables    map[string]*table
	notes     []string
	now       func() time.Time
}

// Open opens the database at path for reading alone, and looks which tables and columns it has. Where nobody has it open,
// nothing is made beside it. program is the path of cmemd-sqlite, which reads it; empty: what sqlite.Find finds. Errors are
// those above, and those of the file; they name it.
func Open(ctx context.Context, program, path string) (*DB, error) {
	if err := checkMagic(path); err != nil {
		return nil, err
	}
	file, err := filepath.EvalSymlinks(path) // SQLite looks for the files beside it where it really is
	if err == nil {
		file, err = filepath.Abs(file)
	}
	if err != nil {
		return nil, fmt.Errorf("claudemem: %w", err)
	}
	for _, beside := range []string{"-wal", "-journal", "-shm"} {
		if err := checkRegular(file + beside); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	whole := empty(file+"-wal") && empty(file+"-journal") // else what was written last, or what it was before, stands there
	nobody := whole && absent(file+"-shm")                // who has it open has an index of its write-ahead log there
	d, err := open(ctx, program, path, file, nobody)
	if errors.Is(err, ErrUnwritable) && whole {
		return open(ctx, program, path, file, true)
	}
	return d, err
}

// open opens file as it stands, or as one that nobody writes to: then it has no write-ahead log, and takes no locks.
func open(ctx context.Context, program, path, file string, immutable bool) (*DB, error) {
	d := &DB{path: path, file: file, now: time.Now}
	// A file that is shorter than it says is read as far as it goes under writable_schema; query_only keeps that from writing.
	q := url.Values{"mode": {"ro"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "writable_schema(1)", "query_only(1)", "trusted_schema(0)",
		"cell_size_check(1)",
	}}
	if immutable {
		q.Set("immutable", "1")
		var err error
		if d.openedAs, err = os.Stat(file); err != nil {
			return nil, fmt.Errorf("claudemem: %w", err)
		}
		d.truncated = d.whole()
	}
	address := &url.URL{Scheme: "file", Path: filepath.ToSlash(file), RawQuery: q.Encode()}
	d.db = sql.OpenDB(sqlite.Connector{Program: program, Address: address.String()})
	d.db.SetMaxOpenConns(1)
	if err := d.learn(ctx); err != nil {
		return nil, errors.Join(err, d.db.Close())
	}
	return d, nil
}

// whole returns an ErrDamaged if the file is shorter than its header says: what was written last lies behind its end.
func (d *DB) whole() error {
	f, err := os.Open(d.file)
	if err != nil {
		return nil // SQLite will say so
	}
	defer f.Close()
	head := make([]byte, 100)
	if _, err := io.ReadFull(f, head); err != nil {
		return fmt.Errorf("%w: %s: not even its first page is there", ErrDamaged, d.path)
	}
	page := int64(binary.BigEndian.Uint16(head[16:]))
	if page == 1 {
		page = 64 << 10
	}
	says := page * int64(binary.BigEndian.Uint32(head[28:]))
	if d.openedAs.Size() >= says || !bytes.Equal(head[24:28], head[92:96]) { // by these two SQLite knows whether the count is up to date
		return nil
	}
	return fmt.Errorf("%w: %s: it was cut: %d of %d bytes are there", ErrDamaged, d.path, d.openedAs.Size(), says)
}

func absent(file string) bool {
	_, err := os.Lstat(file)
	return errors.Is(err, os.ErrNotExist)
}

// empty reports whether a file has nothing in it, or is not there.
func empty(file string) bool {
	info, err := os.Stat(file)
	return errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0
}

// unchanged returns ErrChanged if a database that nobody had open has been written to since.
func (d *DB) unchanged() error {
	if d.openedAs == nil {
		return nil
	}
	info, err := os.Stat(d.file)
	if err == nil && os.SameFile(info, d.openedAs) && info.Size() == d.openedAs.Size() && info.ModTime().Equal(d.openedAs.ModTime()) {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrChanged, d.path)
}

// wrong is err, SQLite's or ctx's, with the file and what of it was read.
func (d *DB) wrong(what string, err error) error {
	if from, ok := errors.AsType[*sqlite.Error](err); ok {
		switch from.Code {
		case sqlite.CodeReadOnly, sqlite.CodeCantOpen:
			return fmt.Errorf("%w: %s: %s: %w", ErrUnwritable, d.path, what, err)
		case sqlite.CodeCorrupt, sqlite.CodeNotADB:
			return fmt.Errorf("%w: %s: %s: %w", ErrDamaged, d.path, what, err)
		}
	}
	return fmt.Errorf("claudemem: %s: %s: %w", d.path, what, err)
}

// Close lets the file go.
func (d *DB) Close() error { return d.db.Close() }

// Notes says what of the database is not as in the version that is known best, for people. The slice is the caller's.
func (d *DB) Notes() []string { return append([]string(nil), d.notes...) }

// checkMagic refuses what is no database before SQLite says so in its own words. An empty file is one to SQLite.
func checkMagic(path string) error {
	if err := checkRegular(path); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("claudemem: %w", err)
	}
	defer f.Close()
	magic := make([]byte, 16)
	if _, err := io.ReadFull(f, magic); err != nil || !bytes.Equal(magic, []byte("SQLite format 3\x00")) {
		return fmt.Errorf("%w: %s", ErrNotSQLite, path)
	}
	return nil
}

// checkRegular refuses what is no regular file before it is opened: to open a pipe is to wait for whoever writes to it.
func checkRegular(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("claudemem: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: %s is no regular file", ErrNotSQLite, path)
	}
	return nil
}
