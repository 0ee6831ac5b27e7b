// Package sqlite finds cmemd-sqlite for tests that need a real SQLite. It is a module of its own, so that `go test ./...` does not
// compile SQLite: build it into a folder of PATH first.
package sqlite

import (
	"database/sql"
	"testing"

	"github.com/cmemd/cmemd/internal/sqlite"
)

// Program returns the path of cmemd-sqlite, and skips the test where there is none.
func Program(tb testing.TB) string {
	tb.Helper()
	path, err := sqlite.Find()
	if err != nil {
		tb.Skip("no cmemd-sqlite on PATH: `go build -C cmd/cmemd-sqlite -o FOLDER/ .` makes it")
	}
	return path
}

// Open opens a database to be written, at an address as SQLite takes it. It skips the test where there is no program.
func Open(tb testing.TB, address string) *sql.DB {
	tb.Helper()
	db := sql.OpenDB(sqlite.Connector{Program: Program(tb), Address: address})
	db.SetMaxOpenConns(1)
	tb.Cleanup(func() { _ = db.Close() })
	return db
}
