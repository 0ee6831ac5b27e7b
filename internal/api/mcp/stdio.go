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
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lastAnswers is how long the end of the input waits for answers to what was asked before it. What takes longer is not answered any more,
// nor is what asks the client something in turn.
const lastAnswers = 5 * time.Second

// A stdio carries messages as lines. The library ends a connection at the first line that it cannot read; this one answers such a
// line with an error without an id, as JSON-RPC 2.0 asks, and reads on. At the end of the input the library cancels what it has not
// answered; so that end is kept from it until all is answered, or lastAnswers have passed.
type stdio struct {
	in  io.ReadCloser
	out io.WriteCloser

	writing sync.Mutex // guards out: each write is a line
	waiting unanswered
}

// Connect returns the library's connection over those lines of in that are messages, or batches of them: whether the client's version
// of the protocol knows batches the library asks.
func (t *stdio) Connect(ctx context.Context) (mcp.Connection, error) {
	lines := &lineReader{from: bufio.NewReader(t.in), ReadCloser: t.in, refuse: t.refuse, waiting: &t.waiting, done: ctx.Done()}
	return (&mcp.IOTransport{Reader: lines, Writer: t, MaxLineLength: -1}).Connect(ctx)
}

// Write writes a line.
func (t *stdio) Write(line []byte) (int, error) {
	t.writing.Lock()
	defer t.writing.Unlock()
	n, err := t.out.Write(line)
	t.waiting.answered(line, err)
	return n, err
}

// Close closes out.
func (t *stdio) Close() error { return t.out.Close() }

// refuse answers a line that is no message.
func (t *stdio) refuse(code int64, says string) error {
	text, err := json.Marshal(says)
	if err == nil {
		_, err = fmt.Fprintf(t, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%s}}`+"\n", code, text)
	}
	return err
}

// A lineReader yields the lines that are messages, one after the other. It refuses others, and skips blank ones and what answers nothing
// that was asked: an answer to that could be answered for ever.
type lineReader struct {
	io.ReadCloser

	from    *bufio.Reader
	refuse  func(code int64, says string) error
	waiting *unanswered
	done    <-chan struct{} // closed when nothing is answered any more
	rest    []byte          // of the last line that was read
}

// Read reads from a line, which ends as the next one begins. Its errors are io.EOF and those of the input and of refusing.
func (r *lineReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		line, long, end := r.line()
		if err := r.take(line, long); err != nil {
			return 0, err
		}
		switch {
		case len(r.rest) > 0: // the end is met again
		case end != nil:
			r.waiting.wait(r.done)
			return 0, end
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
	case !isMessage(line) && !isBatch(line):
		return r.refuse(jsonrpc.CodeInvalidRequest, "The line is JSON, but no message of JSON-RPC 2.0.")
	default:
		r.waiting.asked(line)
		r.rest = answerable(line)
	}
	return nil
}

// answerable is a line, or of a batch with notifications lines: each of those, and the batch of the others. The library waits for answers
// to notifications in a batch, and there are none.
func answerable(line []byte) (lines []byte) {
	var batch, others []json.RawMessage
	if json.Unmarshal(line, &batch) != nil {
		return append(line, '\n')
	}
	for _, one := range batch {
		m, _ := jsonrpc.DecodeMessage(one) // isBatch has
		if q, ok := m.(*jsonrpc.Request); !ok || q.IsCall() {
			others = append(others, one)
			continue
		}
		lines = append(append(lines, one...), '\n')
	}
	if len(others) > 0 {
		text, _ := json.Marshal(others) // they are JSON
		lines = append(append(lines, text...), '\n')
	}
	return lines
}

func isMessage(line []byte) bool {
	_, err := jsonrpc.DecodeMessage(line)
	return err == nil
}

// isBatch reports whether a line is a list of messages that the library can answer: no two requests have one id. It ends at others.
func isBatch(line []byte) bool {
	var batch []json.RawMessage
	if json.Unmarshal(line, &batch) != nil || len(batch) == 0 {
		return false
	}
	asked := map[jsonrpc.ID]bool{}
	for _, one := range batch {
		m, err := jsonrpc.DecodeMessage(one)
		if err != nil {
			return false
		}
		if q, ok := m.(*jsonrpc.Request); ok && q.IsCall() {
			if asked[q.ID] {
				return false
			}
			asked[q.ID] = true
		}
	}
	return true
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
