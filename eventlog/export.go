package eventlog

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/cmemd/cmemd/events"
)

// An export is JSON lines: one that names the format, one a record, one that counts them. Of a record's line only
// "record", its stored form, is read back; the rest is for people and their tools.
type (
	exportHead struct {
		Format int `json:"cmemd_log"`
	}
	exportLine struct {
		events.Header
		Chain  events.Hash `json:"chain"`
		Erased bool        `json:"erased,omitempty"`
		Record []byte      `json:"record"`
	}
	exportEnd struct {
		Records uint64 `json:"records"`
	}
	// importLine is any of the three.
	importLine struct {
		Format  *int    `json:"cmemd_log"`
		Record  []byte  `json:"record"`
		Records *uint64 `json:"records"`
	}
)

const (
	exportFormat = 1

	// maxLine holds the longest line: a stored record in base64, and its header for people.
	maxLine = maxStored/3*4 + 64<<10

	// importBatch is how many records, and importBytes how many bytes, go into one commit.
	importBatch = 4096
	importBytes = 8 << 20
)

// Errors of Import.
var (
	// ErrNotEmpty is an import into a log that already has records.
	ErrNotEmpty = errors.New("eventlog: the log is not empty")
	// ErrTruncated is an export that ends before its last line. What came before is in the log.
	ErrTruncated = errors.New("eventlog: the export is cut short")
)

// Export writes the records from position from to the end to w, as JSON lines, and returns how many it wrote. Import
// takes them back exactly, if they begin at 1. The error is the log's or w's.
func Export(ctx context.Context, log Log, w io.Writer, from events.Position) (records uint64, err error) {
	out := bufio.NewWriterSize(w, 256<<10)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(exportHead{Format: exportFormat}); err != nil {
		return 0, err
	}
	var buf []byte
	for r, err := range log.All(ctx, from) {
		if err != nil {
			return records, errors.Join(err, out.Flush())
		}
		if buf, err = r.AppendBinary(buf[:0]); err != nil {
			return records, err
		}
		if err := enc.Encode(exportLine{Header: r.Header, Chain: r.Chain, Erased: r.Erased, Record: buf}); err != nil {
			return records, err
		}
		records++
	}
	if err := enc.Encode(exportEnd{Records: records}); err != nil {
		return records, err
	}
	return records, out.Flush()
}

// ImportError is a line of an export that cannot be taken. All lines before it are in the log.
type ImportError struct {
	Line int // from 1
	Err  error
}

func (e *ImportError) Error() string {
	return fmt.Sprintf("eventlog: import: line %d: %s", e.Line, e.Err)
}

func (e *ImportError) Unwrap() error { return e.Err }

// Import takes back what Export wrote into a log that must be empty: positions, ids, times, chains and erasures are
// exactly those of the log it came from, and everything is checked on the way. It returns how many records the log now
// has, also beside an error: what came whole before it stays. Errors: ErrNotEmpty, *ImportError for a bad line,
// ErrTruncated, and those of Restore and r.
func Import(ctx context.Context, into Restorer, r io.Reader) (records uint64, err error) {
	last, err := into.Last(ctx)
	if err != nil {
		return 0, err
	}
	if last != 0 {
		return 0, fmt.Errorf("%w: it has %d records", ErrNotEmpty, last)
	}
	im := &importer{into: into, codec: events.NewCodec(), heads: map[events.StreamID]head{}}
	im.chain = newChain(im.heads)
	err = im.lines(ctx, r)
	return im.restored, errors.Join(err, im.flush(ctx))
}

// importer collects records until there are enough for one commit.
type importer struct {
	into     Restorer
	codec    *events.Codec
	chain    chain // of all records so far, so that a bad one is found at its line
	heads    map[events.StreamID]head
	batch    []events.Record
	bytes    int
	restored uint64
	ended    bool
}

func (im *importer) lines(ctx context.Context, r io.Reader) error {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 64<<10), maxLine)
	n := 0
	for in.Scan() {
		n++
		if err := im.line(n, in.Bytes()); err != nil {
			return &ImportError{Line: n, Err: err}
		}
		if len(im.batch) >= importBatch || im.bytes >= importBytes {
			if err := im.flush(ctx); err != nil {
				return err
			}
		}
	}
	if errors.Is(in.Err(), bufio.ErrTooLong) {
		return &ImportError{Line: n + 1, Err: fmt.Errorf("longer than %d MiB", maxLine>>20)}
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("eventlog: import: after line %d: %w", n, err)
	}
	if !im.ended {
		return fmt.Errorf("%w: it ends after line %d, at position %d", ErrTruncated, n, im.chain.last)
	}
	return nil
}

func (im *importer) line(n int, text []byte) error {
	var l importLine
	if err := json.Unmarshal(text, &l); err != nil {
		return fmt.Errorf("no JSON object of an export: %w", err)
	}
	switch {
	case im.ended:
		return errors.New("follows the line that counts the records")
	case n == 1:
		return checkFirst(l)
	case l.Records != nil:
		im.ended = true
		return checkCount(*l.Records, uint64(im.chain.last))
	}
	return im.record(l.Record)
}

func checkFirst(l importLine) error {
	if l.Format == nil {
		return errors.New("this is no export of a log")
	}
	if *l.Format != exportFormat {
		return fmt.Errorf("format %d, this program reads %d", *l.Format, exportFormat)
	}
	return nil
}

func checkCount(want, got uint64) error {
	if want != got {
		return fmt.Errorf("the export had %d records, %d came", want, got)
	}
	return nil
}

func (im *importer) record(stored []byte) error {
	r, err := im.codec.Record(bytes.Clone(stored))
	if err != nil {
		return err
	}
	if err := checkStream(r.Stream); err != nil {
		return err
	}
	if err := im.chain.admit(r); err != nil {
		return err
	}
	if err := checkPayload(r); err != nil {
		return err
	}
	im.heads[r.Stream] = after(r)
	im.batch, im.bytes = append(im.batch, r), im.bytes+len(stored)
	return nil
}

func (im *importer) flush(ctx context.Context) error {
	if len(im.batch) == 0 {
		return nil
	}
	if err := im.into.Restore(ctx, im.batch...); err != nil {
		return err
	}
	im.restored += uint64(len(im.batch))
	im.batch, im.bytes = nil, 0
	return nil
}
