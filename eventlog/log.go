package eventlog

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/cmemd/cmemd/events"
)

// Log is an append-only sequence of records, each in one stream. Every method is safe for concurrent use. Records
// that a method returns are the caller's to keep.
type Log interface {
	// Append adds drafts at the end of stream, which must be at version expected, and returns their records in order.
	// They are on disk when it returns: all of them or none. No drafts is no write. Errors: *WrongVersionError
	// (errors.Is ErrWrongVersion), ErrClosed, ErrFailed, ErrDiskFull, events.ErrTooLarge, ctx.Err() as long as the
	// append has not been handed to the writer; after that it waits for the outcome.
	Append(ctx context.Context, stream events.StreamID, expected events.Version, drafts ...events.Draft) ([]events.Record, error)

	// Get returns the record at position at. Errors: ErrNotFound, ErrClosed.
	Get(ctx context.Context, at events.Position) (events.Record, error)

	// Stream yields stream's records from version from (0 and 1 both mean the first) to its end as it was at some
	// moment after the call. An unknown stream yields nothing. An error ends the sequence.
	Stream(ctx context.Context, stream events.StreamID, from events.Version) iter.Seq2[events.Record, error]

	// All yields every record from position from (0 and 1 both mean the first) to the end as it was at some moment
	// after the call. It reads in slices and holds no transaction while the consumer works.
	All(ctx context.Context, from events.Position) iter.Seq2[events.Record, error]

	// Follow is All that goes on: when it has caught up it waits for what is appended. It ends, without an error, when
	// ctx is done, and with ErrClosed when the log is closed.
	Follow(ctx context.Context, from events.Position) iter.Seq2[events.Record, error]

	// Head returns stream's version and the position of its last record; 0, 0 for an unknown stream.
	Head(ctx context.Context, stream events.StreamID) (events.Version, events.Position, error)

	// Last returns the position of the log's last record; 0 when it is empty.
	Last(ctx context.Context) (events.Position, error)

	// Erase removes the payloads at the given positions; headers and chains stay. It is on disk when it returns: all or
	// none. Erasing twice is no error. Errors: ErrNotFound, ErrClosed, ErrFailed.
	Erase(ctx context.Context, at ...events.Position) error

	// Close waits for appends under way, and closes. Later calls return ErrClosed. Closing twice is no error.
	Close() error
}

// Errors of a Log.
var (
	// ErrWrongVersion is an append to a stream that is not at the expected version.
	ErrWrongVersion = errors.New("eventlog: wrong version")
	// ErrNotFound is a position without a record.
	ErrNotFound = errors.New("eventlog: no such position")
	// ErrClosed is a call after Close.
	ErrClosed = errors.New("eventlog: closed")
	// ErrFailed is a log that closed itself because a commit failed: what is in memory may not be what is on disk, so
	// the program must end and open it anew.
	ErrFailed = errors.New("eventlog: closed by a failed commit")
	// ErrDiskFull is an append that was refused because the disk is nearly full. Nothing was written; the log lives.
	ErrDiskFull = errors.New("eventlog: disk nearly full")
)

// Errors of Open.
var (
	// ErrLocked is a file that another process holds; LockedError says which.
	ErrLocked = errors.New("eventlog: file is in use")
	// ErrNewerFormat is a file written by a newer program.
	ErrNewerFormat = errors.New("eventlog: newer format")
	// ErrNotLog is a file that is no log.
	ErrNotLog = errors.New("eventlog: not a log")
)

// WrongVersionError says where the stream really is.
type WrongVersionError struct {
	Stream           events.StreamID
	Expected, Actual events.Version
}

func (e *WrongVersionError) Error() string {
	return fmt.Sprintf("eventlog: %s is at version %d, not %d", e.Stream, e.Actual, e.Expected)
}

// Is makes errors.Is(err, ErrWrongVersion) true.
func (e *WrongVersionError) Is(target error) bool { return target == ErrWrongVersion }
