package eventlog

import (
	"context"
	"errors"
	"iter"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/transient"
)

// Log is an append-only sequence of records, each in one stream. Every method is safe for concurrent use. Records
// that a method returns are the caller's to keep.
type Log interface {
	// Append adds drafts at the end of stream, which must be at version expected, and returns their records in order.
	// They are on disk when it returns: all of them or none. No drafts is no write and checks no version. Errors:
	// *WrongVersionError (errors.Is ErrWrongVersion), ErrInvalid, ErrReadOnly, ErrClosed, ErrFailed, ErrDiskFull,
	// events.ErrTooLarge, ctx.Err() as long as the append has not been handed to the writer; after that it waits for
	// the outcome.
	Append(ctx context.Context, stream events.StreamID, expected events.Version, drafts ...events.Draft) ([]events.Record, error)

	Reader

	// Erase removes the payloads at the given positions; headers and chains stay. It is on disk when it returns: all or
	// none. Erasing twice is no error. Errors: ErrNotFound, ErrReadOnly, ErrClosed, ErrFailed.
	Erase(ctx context.Context, at ...events.Position) error

	// Close waits for appends under way, and closes. Later calls return ErrClosed. Closing twice is no error.
	Close() error
}

// Reader is the reading half of a Log: of one, or of several that union.Union orders. Every method is safe for concurrent use. Records
// that a method returns are the caller's to keep.
type Reader interface {
	// Get returns the record at position at. Errors: ErrNotFound, ErrClosed, ErrFailed, *CorruptError.
	Get(ctx context.Context, at events.Position) (events.Record, error)

	// Stream yields stream's records from version from (0 and 1 both mean the first) to its end as it was at some
	// moment after the call. An unknown stream yields nothing. An error ends the sequence; ctx.Err() is one.
	Stream(ctx context.Context, stream events.StreamID, from events.Version) iter.Seq2[events.Record, error]

	// All yields every record from position from (0 and 1 both mean the first) to the end as it was at some moment
	// after the call. It reads in slices and holds no transaction while the consumer works: the consumer may take its
	// time, append, and erase. The records of a slice share one buffer, so whoever keeps a single record for long
	// keeps up to 512 KiB with it; keep its header instead. An error ends the sequence; ctx.Err() is one.
	All(ctx context.Context, from events.Position) iter.Seq2[events.Record, error]

	// Follow is All that goes on: when it has caught up it waits for what is appended. It ends, without an error, when
	// ctx is done, and with ErrClosed when the log is closed.
	Follow(ctx context.Context, from events.Position) iter.Seq2[events.Record, error]

	// Head returns stream's version and the position of its last record; 0, 0 for an unknown stream.
	Head(ctx context.Context, stream events.StreamID) (events.Version, events.Position, error)

	// Last returns the position of the log's last record; 0 when it is empty.
	Last(ctx context.Context) (events.Position, error)
}

// Restorer is a Log that takes back records of another log exactly as they were. Bolt is one.
type Restorer interface {
	Log

	// Restore adds records at the end of the log as they are: positions, ids, times, chains and erasures. They must
	// continue the log without a gap, their chains must hold and their payloads must be the ones they name. They are on
	// disk when it returns: all of them or none. Errors: *CorruptError for the first record that does not fit, and those
	// of Append.
	Restore(ctx context.Context, records ...events.Record) error
}

// Errors of a Log.
var (
	// ErrWrongVersion is an append to a stream that is not at the expected version.
	ErrWrongVersion = transient.Mark(errors.New("eventlog: wrong version"))
	// ErrInvalid is an append that no log takes: a stream whose name is empty, over events.MaxStream, or begins with a
	// space or a control character; a draft without an id or an event.
	ErrInvalid = errors.New("eventlog: invalid append")
	// ErrReadOnly is a change to a log that was opened for reading.
	ErrReadOnly = errors.New("eventlog: opened read-only")
	// ErrNotFound is a position without a record.
	ErrNotFound = errors.New("eventlog: no such position")
	// ErrClosed is a call after Close.
	ErrClosed = transient.Mark(errors.New("eventlog: closed"))
	// ErrFailed is a log that closed itself because a commit failed: what is in memory may not be what is on disk, so
	// the program must end and open it anew.
	ErrFailed = transient.Mark(errors.New("eventlog: closed by a failed commit"))
	// ErrExchanged, beside ErrFailed, is a log whose path names another file than the one that it has open, or none: what was appended
	// before is in the open file alone. Nothing is appended any more; see SaveHeld.
	ErrExchanged = transient.Mark(errors.New("eventlog: the file was exchanged or moved"))
	// ErrDiskFull is an append that was refused because the disk is nearly full. Nothing was written; the log lives.
	ErrDiskFull = transient.Mark(errors.New("eventlog: disk nearly full"))
)
