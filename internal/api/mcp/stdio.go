package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A stdio carries messages as lines. The library ends a connection at the first line that it cannot read; this one answers such a
// line with an error without an id, as JSON-RPC 2.0 asks, and reads on.
type stdio struct {
	in  io.ReadCloser
	out io.WriteCloser

	writing sync.Mutex // guards out: each write is a line
}

// Connect returns the library's connection over those lines of in that are JSON.
func (t *stdio) Connect(ctx context.Context) (mcp.Connection, error) {
	lines := &lineReader{from: bufio.NewReader(t.in), ReadCloser: t.in, refuse: t.refuse}
	c, err := (&mcp.IOTransport{Reader: lines, Writer: t, MaxLineLength: -1}).Connect(ctx)
	return &stdioConn{c, t}, err
}

// Write writes a line.
func (t *stdio) Write(line []byte) (int, error) {
	t.writing.Lock()
	defer t.writing.Unlock()
	return t.out.Write(line)
}

// Close closes out.
func (t *stdio) Close() error { return t.out.Close() }

// refuse answers a line that is no message.
func (t *stdio) refuse(code int64, says string) error {
	_, err := fmt.Fprintf(t, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`+"\n", code, says)
	return err
}

// A stdioConn is the library's connection, which a line of JSON that is no message does not end.
type stdioConn struct {
	mcp.Connection

	lines *stdio
}

// Read returns the next message, io.EOF at the end of the input, and the error of ctx or of the input.
func (c *stdioConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := c.Connection.Read(ctx)
		var input *inputError
		if err == nil || errors.Is(err, io.EOF) || errors.As(err, &input) || ctx.Err() != nil {
			return m, err
		}
		if err := c.lines.refuse(jsonrpc.CodeInvalidRequest, "The line is JSON, but no message of JSON-RPC 2.0."); err != nil {
			return nil, err
		}
	}
}

// An inputError is an error of the input or the output, and of no message.
type inputError struct{ error }

func (e *inputError) Unwrap() error { return e.error }

// A lineReader yields the lines that are JSON, one after the other. It refuses others, and skips blank ones and what answers nothing
// that was asked: an answer to that could be answered for ever.
type lineReader struct {
	io.ReadCloser

	from   *bufio.Reader
	refuse func(code int64, says string) error
	rest   []byte // of the last line that was read
}

// Read reads from a line, which ends as the next one begins. Its errors are io.EOF and *inputError.
func (r *lineReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		line, long, end := r.line()
		if err := r.take(line, long); err != nil {
			return 0, &inputError{err}
		}
		switch {
		case len(r.rest) > 0: // the end is met again
		case errors.Is(end, io.EOF):
			return 0, io.EOF
		case end != nil:
			return 0, &inputError{end}
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// take keeps a line to be read, or refuses it.
func (r *lineReader) take(line []byte, long bool) error {
	switch line = bytes.TrimSpace(line); {
	case long:
		return r.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("The line is longer than %d bytes.", maxRequest))
	case len(line) == 0 || answersNothing(line):
	case !json.Valid(line):
		return r.refuse(jsonrpc.CodeParseError, "The line is no JSON.")
	default:
		r.rest = append(line, '\n')
	}
	return nil
}

// line returns the next line, and the error that ended it. Of one that is too long it returns the beginning and keeps no more.
func (r *lineReader) line() (line []byte, long bool, err error) {
	for {
		part, err := r.from.ReadSlice('\n')
		long = long || len(line)+len(part) > maxRequest
		if !long {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// answersNothing reports whether a line is an answer that does not say to what, as errors are to what could not be read.
func answersNothing(line []byte) bool {
	var m struct {
		ID, Method, Result, Error json.RawMessage
	}
	if json.Unmarshal(line, &m) != nil {
		return false
	}
	return m.Method == nil && (m.ID == nil || string(m.ID) == "null") && (m.Result != nil || m.Error != nil)
}
