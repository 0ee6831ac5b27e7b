package eventlog

import (
	"bufio"
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

// Errors of Import and ReadExport.
var (
	// ErrNotEmpty is an import into a log that already has records.
	ErrNotEmpty = errors.New("eventlog: the log is not empty")
	// ErrTruncated is an export that ends before its last line. What came before is good: Import has put it into the log.
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
	im := importer{into: into}
	err = newExportReader().each(r, func(r events.Record, stored int) error { return im.add(ctx, r, stored) })
	return im.restored, errors.Join(err, im.flush(ctx))
}

// importer collects records until there are enough for one commit.
type importer struct {
	into     Restorer
	batch    []events.Record
	bytes    int
	restored uint64
}

func (im *importer) add(ctx context.Context, r events.Record, stored int) error {
	im.batch, im.bytes = append(im.batch, r), im.bytes+stored
	if len(im.batch) >= importBatch || im.bytes >= importBytes {
		return im.flush(ctx)
	}
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
