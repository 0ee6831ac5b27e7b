package sqlite_test

import (
	"context"
	"database/sql"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/internal/sqlite"
	testdb "github.com/cmemd/cmemd/testkit/sqlite"
)

// TestValues: what SQLite stores comes back as it was stored, whatever type a column says it has.
func TestValues(t *testing.T) {
	t.Parallel()
	db := testdb.Open(t, "file:"+filepath.Join(t.TempDir(), "a.db"))
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE t (a TEXT, b INTEGER, c BLOB, d REAL, e)"); err != nil {
		t.Fatal(err)
	}
	want := []any{"ü\x00x", int64(-1) << 62, []byte{}, 1.5, nil}
	if _, err := db.ExecContext(t.Context(), "INSERT INTO t VALUES (?, ?, ?, ?, ?), ('a', 'b', x'ff', 'd', 'e')", want...); err != nil {
		t.Fatal(err)
	}
	var got [5]any
	if err := db.QueryRowContext(t.Context(), "SELECT * FROM t").Scan(&got[0], &got[1], &got[2], &got[3], &got[4]); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got[:]); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestManyRows: rows that fill many answers come in order; what is not read does not disturb the next query.
func TestManyRows(t *testing.T) {
	t.Parallel()
	db := testdb.Open(t, "file:"+filepath.Join(t.TempDir(), "a.db"))
	const many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT i, hex(randomblob(50)) FROM n"
	for _, most := range []int{3, 1 << 30} {
		rows, err := db.QueryContext(t.Context(), many)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for n < most && rows.Next() {
			var i int
			var text string
			if n++; rows.Scan(&i, &text) != nil || i != n || len(text) != 100 {
				t.Fatalf("row %d is %d, %q", n, i, text)
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil || n != min(most, 20000) {
			t.Errorf("%d rows, %v", n, err)
		}
	}
}

// TestErrors: SQLite's codes and words come through, and the connection lives on.
func TestErrors(t *testing.T) {
	t.Parallel()
	db := testdb.Open(t, "file:"+filepath.Join(t.TempDir(), "none.db")+"?mode=ro")
	_, err := db.ExecContext(t.Context(), "SELECT 1 FROM nowhere")
	var from *sqlite.Error
	if !errors.As(err, &from) || from.Code != sqlite.CodeCantOpen {
		t.Errorf("got %v, want that it cannot be opened", err)
	}
	db = testdb.Open(t, "file:"+filepath.Join(t.TempDir(), "a.db"))
	if _, err := db.ExecContext(t.Context(), "SELECT 1 FROM nowhere"); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("got %v", err)
	}
	var one int
	if err := db.QueryRowContext(t.Context(), "SELECT 1").Scan(&one); err != nil || one != 1 {
		t.Errorf("after an error: %d, %v", one, err)
	}
}

// TestStopped: a query that takes long ends with its context.
func TestStopped(t *testing.T) {
	t.Parallel()
	db := testdb.Open(t, "file:"+filepath.Join(t.TempDir(), "a.db"))
	ctx, cancel := context.WithCancel(t.Context())
	rows, err := db.QueryContext(ctx, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n")
	if err != nil {
		t.Fatal(err)
	}
	rows.Next()
	cancel()
	for rows.Next() {
	}
	if err := rows.Err(); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestNoSuchProgram: a child that is none, that ends, that says nonsense, or is of another release is told.
func TestNoSuchProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the children are scripts for a shell")
	}
	t.Parallel()
	dir := t.TempDir()
	other, err := os.Create(filepath.Join(dir, "hello"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(gob.NewEncoder(other).Encode(struct{ Version int }{99}), other.Close()); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ script, want string }{
		"ends":     {"echo 'no such library' >&2; exit 3", "no such library"},
		"nonsense": {"printf '\\003abc'; cat >/dev/null", "ended"},
		"another":  {fmt.Sprintf("cat %s; cat >/dev/null", other.Name()), "another release"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+c.script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := ask(t.Context(), path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if err := ask(t.Context(), filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	silent := filepath.Join(dir, "silent")
	if err := os.WriteFile(silent, []byte("#!/bin/sh\nexec sleep 100\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := ask(ctx, silent); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("silent: %v", err)
	}
}

func ask(ctx context.Context, program string) error {
	db := sql.OpenDB(sqlite.Connector{Program: program, Address: "file:x"})
	defer db.Close()
	return db.PingContext(ctx)
}
