package eventlog

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"

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
		Unread string      `json:"damaged,omitempty"` // why the record has no payload
		Record []byte      `json:"record"`
	}
	// exportLost stands for a record that cannot be read.
	exportLost struct {
		Position events.Position `json:"position"`
		Lost     string          `json:"lost"` // why
	}
	// importLine is any of these, or an ExportEnd.
	importLine struct {
		Format  *int    `json:"cmemd_log"`
		Record  []byte  `json:"record"`
		Unread  string  `json:"damaged"`
		Lost    *string `json:"lost"`
		Records *uint64 `json:"records"`
	}
)

// An ExportEnd is the last line of an export. Lists have the first events.MaxSpans.
type ExportEnd struct {
	Records  uint64        `json:"records"`             // lines with one
	Lacking  uint64        `json:"lacking,omitempty"`   // records that could not be read
	LostAt   []events.Span `json:"lost_at,omitempty"`   // where
	Unread   uint64        `json:"unread,omitempty"`    // records of which the header alone could be read
	UnreadAt []events.Span `json:"unread_at,omitempty"` // where
}

// Err is nil for an export of all that the log has, else a *IncompleteError.
func (e ExportEnd) Err() error {
	if e.Lacking == 0 && e.Unread == 0 {
		return nil
	}
	return &IncompleteError{e}
}

// IncompleteError is an export or an import that went on past damaged records. All others were taken.
type IncompleteError struct{ ExportEnd }

func (e *IncompleteError) Error() string {
	var parts []string
	if e.Lacking > 0 {
		parts = append(parts, fmt.Sprintf("damaged records left out: %d, at %s", e.Lacking, events.SpansText(e.LostAt)))
	}
	if e.Unread > 0 {
		parts = append(parts, fmt.Sprintf("records left without their damaged payload: %d, at %s", e.Unread, events.SpansText(e.UnreadAt)))
	}
	return "eventlog: " + strings.Join(parts, "; ")
}

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
// takes them back exactly, if they begin at 1. It goes on past damaged records, names them in the export, and returns a
// *IncompleteError then; any other error is the log's or w's. It keeps about 200 bytes for each stream.
func Export(ctx context.Context, log Log, w io.Writer, from events.Position) (records uint64, err error) {
	out := bufio.NewWriterSize(w, 256<<10)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(exportHead{Format: exportFormat}); err != nil {
		return 0, err
	}
	from = max(from, 1)
	x := exporter{enc: enc, chain: newChain()}
	x.chain.last, x.chain.gaps = from-1, from > 1
	if err := x.walk(ctx, log); err != nil {
		_ = out.Flush() // err says why the export ends here, also where it is w's
		return x.end.Records, err
	}
	x.end.Lacking, x.end.LostAt = x.lost.Count, x.lost.List
	x.end.Unread, x.end.UnreadAt = x.unread.Count, x.unread.List
	if err := enc.Encode(x.end); err != nil {
		return x.end.Records, err
	}
	return x.end.Records, errors.Join(out.Flush(), x.end.Err())
}

// exporter writes the lines of one export.
type exporter struct {
	enc          *json.Encoder
	chain        *chain
	buf          []byte
	lost, unread events.Spans
	end          ExportEnd
}

// walk writes all records, in slices as far as these can be read, and one by one past what cannot.
func (x *exporter) walk(ctx context.Context, log Log) error {
	last, err := log.Last(ctx)
	if err != nil {
		return err
	}
	for x.chain.last < last {
		for r, err := range log.All(ctx, x.chain.last+1) {
			if errors.Is(err, events.ErrCorrupt) || errors.Is(err, events.ErrUnknownKind) {
				break
			}
			if err == nil {
				err = x.record(r)
			}
			if err != nil {
				return err
			}
		}
		if err := x.oneByOne(ctx, log, min(last, x.chain.last+maxSliceRecords)); err != nil {
			return err
		}
	}
	return nil
}

// oneByOne writes the records up to a position, and names those that cannot be read.
func (x *exporter) oneByOne(ctx context.Context, log Log, to events.Position) error {
	for x.chain.last < to {
		r, err := log.Get(ctx, x.chain.last+1)
		switch {
		case err == nil:
			err = x.record(r)
		case errors.Is(err, events.ErrCorrupt), errors.Is(err, ErrNotFound), errors.Is(err, events.ErrUnknownKind):
			err = x.noteUnreadable(err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// noteUnreadable names the next record as one that cannot be read, because of why.
func (x *exporter) noteUnreadable(why error) error {
	x.chain.skip()
	x.lost.Add(x.chain.last)
	return x.enc.Encode(exportLost{Position: x.chain.last, Lost: rootReason(why)})
}

func (x *exporter) record(r events.Record) (err error) {
	if err := x.chain.admit(r); err != nil {
		return x.noteUnreadable(err)
	}
	line := exportLine{Header: r.Header, Chain: r.Chain}
	if err := checkPayload(r); err != nil {
		x.unread.Add(r.Position)
		r, line.Unread = r.Erase(), rootReason(err)
	}
	if x.buf, err = r.AppendBinary(x.buf[:0]); err != nil {
		return err
	}
	line.Erased, line.Record = r.Erased, x.buf
	x.end.Records++
	return x.enc.Encode(line)
}

// Import takes back what Export wrote into a log that must be empty: positions, ids, times, chains and erasures are
// exactly those of the log it came from, and everything is checked on the way. Of an export that went on past damaged records
// it makes what a salvage makes (see RecordLost and Relay), signs it, and returns a *IncompleteError; so it does for a record
// whose payload was damaged when it was exported. It returns how many records the log now has, also beside an error: what came
// whole before it stays. Errors: ErrNotEmpty, *ImportError for a bad line, ErrTruncated, and those of Restore and r.
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
	err = errors.Join(err, im.flush(ctx))
	if gaps, ok := errors.AsType[*IncompleteError](err); ok {
		err = errors.Join(err, im.sign(ctx, gaps.ExportEnd))
	}
	return im.restored, err
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

// sign appends what the export lacked.
func (im *importer) sign(ctx context.Context, gaps ExportEnd) error {
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	sec, nsec := id.Time().UnixTime()
	_, err = AppendEnd(ctx, im.into, events.Daemon, events.Draft{ID: id, OccurredAt: time.Unix(sec, nsec), Event: events.LogSalvaged{
		Source: "an export", Records: gaps.Records, Lost: gaps.Lacking, LostAt: gaps.LostAt, Unread: gaps.Unread, UnreadAt: gaps.UnreadAt,
	}})
	if err == nil {
		im.restored++
	}
	return err
}

func (im *importer) flush(ctx context.Context) error {
	if len(im.batch) == 0 {
		return nil
	}
	batch := im.batch
	im.batch, im.bytes = nil, 0 // one that is refused is not tried again at the end
	if err := im.into.Restore(ctx, batch...); err != nil {
		return err
	}
	im.restored += uint64(len(batch))
	return nil
}
