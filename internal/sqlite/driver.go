package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
)

// A Connector starts a child for each connection to one database: sql.OpenDB takes it. It is safe for concurrent use.
type Connector struct {
	Program string // the path of cmemd-sqlite; empty: what Find finds
	Address string // file:PATH?..., as modernc.org/sqlite takes it
}

// Connect implements driver.Connector.
func (c Connector) Connect(ctx context.Context) (driver.Conn, error) {
	if c.Program == "" {
		var err error
		if c.Program, err = Find(); err != nil {
			return nil, err
		}
	}
	child, err := start(ctx, c.Program, c.Address)
	if err != nil {
		return nil, err
	}
	return &conn{child}, nil
}

// Driver implements driver.Connector.
func (c Connector) Driver() driver.Driver { return c }

// Open implements driver.Driver; name is an address.
func (c Connector) Open(name string) (driver.Conn, error) {
	return Connector{Program: c.Program, Address: name}.Connect(context.Background())
}

type conn struct{ *child }

func (c *conn) Close() error { return c.close() }

// Begin implements driver.Conn.
func (c *conn) Begin() (driver.Tx, error) {
	return transaction{c}, c.exec(context.Background(), "BEGIN", nil)
}

type transaction struct{ on *conn }

func (t transaction) Commit() error   { return t.on.exec(context.Background(), "COMMIT", nil) }
func (t transaction) Rollback() error { return t.on.exec(context.Background(), "ROLLBACK", nil) }

// Prepare implements driver.Conn. Nothing is prepared: each query is sent whole.
func (c *conn) Prepare(query string) (driver.Stmt, error) { return statement{c, query}, nil }

type statement struct {
	on    *conn
	query string
}

func (s statement) Close() error  { return nil }
func (s statement) NumInput() int { return -1 }

func (s statement) Exec(args []driver.Value) (driver.Result, error) {
	return driver.ResultNoRows, s.on.exec(context.Background(), s.query, args)
}

func (s statement) Query(args []driver.Value) (driver.Rows, error) {
	return s.on.query(context.Background(), s.query, args)
}

// QueryContext implements driver.QueryerContext.
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.query(ctx, query, plainArgs(args))
}

// ExecContext implements driver.ExecerContext. The result says nothing.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return driver.ResultNoRows, c.exec(ctx, query, plainArgs(args))
}

func plainArgs(args []driver.NamedValue) []driver.Value {
	plain := make([]driver.Value, len(args))
	for i, a := range args {
		plain[i] = a.Value
	}
	return plain
}

func (c *conn) exec(ctx context.Context, query string, args []driver.Value) error {
	rows, err := c.query(ctx, query, args)
	if err != nil {
		return err
	}
	return rows.Close()
}

// query sends a query and reads up to its columns, or its end.
func (c *conn) query(ctx context.Context, query string, args []driver.Value) (*rows, error) {
	q := request{Query: query, Args: make([]value, len(args))}
	for i, a := range args {
		var err error
		if q.Args[i], err = valueOf(a); err != nil {
			return nil, err
		}
	}
	r := &rows{from: c.child, stopped: ctx.Err, stop: c.watch(ctx)}
	if err := c.ask(q); err != nil {
		return nil, r.failed(err)
	}
	a, err := r.from.next()
	if err != nil {
		r.end = err
		if !errors.Is(err, io.EOF) {
			return nil, r.failed(err)
		}
	}
	r.columns = a.Columns
	return r, nil
}

// rows are the answers to one query.
type rows struct {
	from    *child
	stopped func() error // why the query was to stop; nil: it was not
	stop    func() bool  // the child is not killed any more
	columns []string
	batch   [][]value
	end     error // io.EOF, or a failure; nil: more is to come
}

func (r *rows) Columns() []string { return r.columns }

// Next implements driver.Rows.
func (r *rows) Next(to []driver.Value) error {
	for len(r.batch) == 0 {
		if r.end != nil {
			return r.end
		}
		a, err := r.from.next()
		if r.batch = a.Rows; err != nil {
			r.end = r.failed(err)
		}
	}
	row := r.batch[0]
	if r.batch = r.batch[1:]; len(row) != len(to) {
		return fmt.Errorf("sqlite: a row of %d values in %d columns", len(row), len(to))
	}
	for i, v := range row {
		to[i] = v.plain()
	}
	return nil
}

// Close implements driver.Rows: what was not read is passed over.
func (r *rows) Close() error {
	for r.end == nil {
		if _, err := r.from.next(); err != nil {
			r.end = r.failed(err)
		}
	}
	r.stop()
	if errors.Is(r.end, io.EOF) {
		return nil
	}
	return r.end
}

// failed is err, or why the query was to stop.
func (r *rows) failed(err error) error {
	if stopped := r.stopped(); stopped != nil {
		return stopped
	}
	r.stop()
	return err
}
