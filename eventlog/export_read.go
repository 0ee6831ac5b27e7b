package eventlog

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/cmemd/cmemd/events"
)

// ImportError is a line of an export that cannot be taken. All lines before it were.
type ImportError struct {
	Line int // from 1
	Err  error
}

func (e *ImportError) Error() string {
	return fmt.Sprintf("eventlog: line %d of the export: %s", e.Line, e.Err)
}

func (e *ImportError) Unwrap() error { return e.Err }

// ReadExport yields the records of an export one by one, without a log to put them in: what a daemon streams can be
// replayed as its log's file can. Everything is checked as Import checks it, so the export must begin with the log's
// first record. Where the export went on past damaged records, those behind them are laid anew, and placeholders stand there, as in
// what Import makes of it. Each record owns its bytes. An error ends the sequence: *ImportError for a bad line, ErrTruncated,
// ctx.Err(), and those of r. It keeps about 200 bytes for each stream.
func ReadExport(ctx context.Context, r io.Reader) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		err := newExportReader().each(r, func(r events.Record, _ int) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !yield(r, nil) {
				return errEnough
			}
			return nil
		})
		if gaps := new(IncompleteError); errors.As(err, &gaps) {
			err = nil // the placeholders have said it
		}
		finish(err, yield)
	}
}

// exportReader checks the lines of one export, from the first on.
type exportReader struct {
	codec *events.Codec
	chain *chain // of all records so far, so that a bad one is found at its line
	relay *Relay // where they stand now
	lines int
	ended bool

	lost, unread events.Spans
}

func newExportReader() *exportReader {
	codec := events.NewCodec()
	return &exportReader{codec: codec, chain: newChain(), relay: NewRelay(codec)}
}

// each calls take with every record of r and the length of its stored form. An error of take ends it, and is returned
// as it is.
func (e *exportReader) each(r io.Reader, take func(r events.Record, stored int) error) error {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 64<<10), maxLine)
	for in.Scan() {
		e.lines++
		record, stored, err := e.line(in.Bytes())
		if err != nil && in.Err() != nil { // half a line, because the reading failed
			e.lines--
			break
		}
		if err != nil {
			return &ImportError{Line: e.lines, Err: err}
		}
		if stored == 0 {
			continue
		}
		if err := take(record, stored); err != nil {
			return err
		}
	}
	return e.end(in.Err())
}

// end says how the lines ended, after the scanner's own error.
func (e *exportReader) end(err error) error {
	if errors.Is(err, bufio.ErrTooLong) {
		return &ImportError{Line: e.lines + 1, Err: fmt.Errorf("longer than %d MiB", maxLine>>20)}
	}
	if err != nil {
		return fmt.Errorf("eventlog: read an export: after line %d: %w", e.lines, err)
	}
	if !e.ended {
		return fmt.Errorf("%w: it ends after line %d, at position %d", ErrTruncated, e.lines, e.chain.last)
	}
	return ExportEnd{
		Records: uint64(e.chain.last) - e.lost.Count, Lacking: e.lost.Count, LostAt: e.lost.List, Unread: e.unread.Count, UnreadAt: e.unread.List,
	}.Err()
}

// line returns the record of a line and the length of its stored form; 0 for the first and the last line.
func (e *exportReader) line(text []byte) (events.Record, int, error) {
	var l importLine
	if err := json.Unmarshal(text, &l); err != nil {
		return events.Record{}, 0, fmt.Errorf("no JSON object of an export: %w", err)
	}
	switch {
	case e.ended:
		return events.Record{}, 0, errors.New("follows the line that counts the records")
	case e.lines == 1:
		return events.Record{}, 0, checkFirst(l)
	case l.Records != nil:
		e.ended = true
		return events.Record{}, 0, checkCount(*l.Records, uint64(e.chain.last)-e.lost.Count)
	}
	if l.Lost != nil {
		e.chain.skip()
		e.lost.Add(e.chain.last)
		r, err := e.relay.Lost(events.Lost, 0)
		return r, placeholderSize, err
	}
	r, err := e.record(l)
	return r, len(l.Record), err
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

// placeholderSize is about how long the stored form of one is.
const placeholderSize = 256

// record reads a record's line. One whose payload is damaged is as one that was exported without it.
func (e *exportReader) record(l importLine) (events.Record, error) {
	r, err := e.codec.Record(bytes.Clone(l.Record))
	if err != nil {
		return events.Record{}, err
	}
	if err := e.chain.admit(r); err != nil {
		return events.Record{}, err
	}
	if l.Unread != "" || checkPayload(r) != nil {
		e.unread.Add(r.Position)
		r = r.Erase()
	}
	r, _ = e.relay.Add(r)
	return r, nil
}
