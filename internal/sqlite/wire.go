package sqlite

import (
	"database/sql/driver"
	"fmt"
)

// wireVersion is that of the types below. A child with another one is refused.
const wireVersion = 1

// What goes over the pipes, by encoding/gob. cmd/cmemd-sqlite, a module of its own, has the same types: it could import these only with
// a replace directive, and `go install` of a module that has one is refused.
type (
	hello struct{ Version int } // the child's first word

	request struct {
		Query string // one or more statements
		Args  []value
	}

	// answer is a part of what a request yields: its columns, then rows, then the end.
	answer struct {
		Columns []string
		Rows    [][]value
		End     bool
		Error   string // with End; empty: it went well
		Code    int    // SQLite's result code, extended; 0: the error is not SQLite's
	}

	// value is one value as SQLite stores it.
	value struct {
		Kind  byte // 'i', 'r', 't', 'b': integer, real, text, blob; 0: NULL
		Int   int64
		Real  float64
		Bytes []byte
	}
)

// plain is a value as database/sql has it.
func (v value) plain() driver.Value {
	switch v.Kind {
	case 'i':
		return v.Int
	case 'r':
		return v.Real
	case 't':
		return string(v.Bytes)
	case 'b':
		return append([]byte{}, v.Bytes...)
	}
	return nil
}

// valueOf takes what database/sql gives a driver.
func valueOf(v driver.Value) (value, error) {
	switch v := v.(type) {
	case nil:
		return value{}, nil
	case int64:
		return value{Kind: 'i', Int: v}, nil
	case float64:
		return value{Kind: 'r', Real: v}, nil
	case string:
		return value{Kind: 't', Bytes: []byte(v)}, nil
	case []byte:
		return value{Kind: 'b', Bytes: v}, nil
	}
	return value{}, fmt.Errorf("sqlite: no argument can be a %T", v)
}

// SQLite's primary result codes that callers tell apart; https://sqlite.org/rescode.html.
const (
	CodeReadOnly = 8
	CodeCorrupt  = 11
	CodeCantOpen = 14
	CodeNotADB   = 26
)

// An Error is what SQLite says.
type Error struct {
	Code int // primary: the lower eight bits of an extended one
	Text string
}

func (e *Error) Error() string { return e.Text }
