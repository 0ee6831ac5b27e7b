package claudemem

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // registers the driver
)

// Errors of Open.
var (
	// ErrNotSQLite is a file that is no SQLite database.
	ErrNotSQLite = errors.New("claudemem: not an SQLite database")
	// ErrForeign is a database of another program.
	ErrForeign = errors.New("claudemem: not a database of claude-mem")
)

// busyTimeout is how long a lock of the program that writes the database is waited for.
const busyTimeout = 10 * time.Second

// DB is one database of claude-mem. It is not safe for concurrent use.
type DB struct {
	db     *sql.DB
	tables map[string]*table
	notes  []string
	now    func() time.Time
}

// Open opens the database at path for reading alone, and looks which tables and columns it has. Errors are ErrNotSQLite,
// ErrForeign, and those of the file.
func Open(ctx context.Context, path string) (*DB, error) {
	if err := checkMagic(path); err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("claudemem: %w", err)
	}
	q := url.Values{"mode": {"ro"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "query_only(1)", "trusted_schema(0)", "cell_size_check(1)",
	}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: filepath.ToSlash(abs), RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, fmt.Errorf("claudemem: open %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	d := &DB{db: db, now: time.Now}
	if err := d.learn(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return d, nil
}

// Close lets the file go.
func (d *DB) Close() error { return d.db.Close() }

// Notes says what of the database is not as in the version that is known best, for people. The slice is the caller's.
func (d *DB) Notes() []string { return append([]string(nil), d.notes...) }

// checkMagic refuses what is no database before SQLite says so in its own words. An empty file is one to SQLite.
func checkMagic(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("claudemem: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("claudemem: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: %s is no file", ErrNotSQLite, path)
	}
	magic := make([]byte, 16)
	if _, err := io.ReadFull(f, magic); err != nil || !bytes.Equal(magic, []byte("SQLite format 3\x00")) {
		return fmt.Errorf("%w: %s", ErrNotSQLite, path)
	}
	return nil
}
