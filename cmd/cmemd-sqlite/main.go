// Command cmemd-sqlite answers queries of one SQLite database over its standard input and output. `cmemd import` starts it where
// another memory keeps its rows in SQLite; a module of its own, so that nobody else has to compile SQLite.
//
//	cmemd-sqlite ADDRESS
//
// ADDRESS is the database as modernc.org/sqlite takes it (file:PATH?mode=ro): who starts the program decides what it may do. Both
// directions are encoding/gob: first a hello, then for each request one answer with columns, answers with rows, and one that ends
// them. The program ends with its standard input. The other side, and the meaning of the types, is internal/sqlite.
package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"

	"modernc.org/sqlite"
)

// The wire, as in internal/sqlite: gob goes by the names of the fields.
type (
	hello   struct{ Version int }
	request struct {
		Query string
		Args  []value
	}
	answer struct {
		Columns []string
		Rows    [][]value
		End     bool
		Error   string
		Code    int
	}
	value struct {
		Kind  byte
		Int   int64
		Real  float64
		Bytes []byte
	}
)

const wireVersion = 1

// batchBytes is how much of its values an answer holds before it is sent.
const batchBytes = 64 << 10

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "cmemd-sqlite: it is started by `cmemd import`, with the address of a database")
		os.Exit(2)
	}
	if err := serve(os.Args[1], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "cmemd-sqlite:", err)
		os.Exit(1)
	}
}

// serve answers requests until in ends.
func serve(address string, in io.Reader, out io.Writer) error {
	db, err := sql.Open("sqlite", address)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(context.Background()) // one for all requests: a transaction is begun and ended by statements
	if err == nil {
		defer conn.Close()
	}
	w := bufio.NewWriter(out)
	enc, dec := gob.NewEncoder(w), gob.NewDecoder(bufio.NewReader(in))
	if err := errors.Join(enc.Encode(hello{Version: wireVersion}), w.Flush()); err != nil {
		return err
	}
	for {
		var q request
		if err := dec.Decode(&q); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		end := answer{End: true}
		failed := err
		if failed == nil {
			failed = run(conn, q, enc)
		}
		if failed != nil {
			end.Error = failed.Error()
			if from, ok := errors.AsType[*sqlite.Error](failed); ok {
				end.Code = from.Code()
			}
		}
		if err := errors.Join(enc.Encode(end), w.Flush()); err != nil {
			return err
		}
	}
}

// run sends what one request yields, but for its end.
func run(conn *sql.Conn, q request, enc *gob.Encoder) error {
	args := make([]any, len(q.Args))
	for i, a := range q.Args {
		args[i] = a.plain()
	}
	rows, err := conn.QueryContext(context.Background(), q.Query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	if err := enc.Encode(answer{Columns: columns}); err != nil {
		return err
	}
	into, to := make([]any, len(columns)), make([]any, len(columns))
	for i := range into {
		to[i] = &into[i]
	}
	var batch [][]value
	size := 0
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			return err
		}
		row := make([]value, len(into))
		for i, v := range into {
			row[i] = valueOf(v)
			size += 16 + len(row[i].Bytes)
		}
		if batch = append(batch, row); size < batchBytes {
			continue
		}
		if err := enc.Encode(answer{Rows: batch}); err != nil {
			return err
		}
		batch, size = nil, 0
	}
	if len(batch) > 0 {
		if err := enc.Encode(answer{Rows: batch}); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (v value) plain() any {
	switch v.Kind {
	case 'i':
		return v.Int
	case 'r':
		return v.Real
	case 't':
		return string(v.Bytes)
	case 'b':
		if v.Bytes == nil {
			return []byte{}
		}
		return v.Bytes
	}
	return nil
}

// valueOf is what SQLite holds, as it was stored: modernc's driver makes dates of texts only where a column says that it has some.
func valueOf(v any) value {
	switch v := v.(type) {
	case nil:
		return value{}
	case int64:
		return value{Kind: 'i', Int: v}
	case float64:
		return value{Kind: 'r', Real: v}
	case string:
		return value{Kind: 't', Bytes: []byte(v)}
	case []byte:
		return value{Kind: 'b', Bytes: v}
	case bool:
		if v {
			return value{Kind: 'i', Int: 1}
		}
		return value{Kind: 'i'}
	}
	return value{Kind: 't', Bytes: fmt.Append(nil, v)}
}
