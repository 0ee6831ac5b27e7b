package eventlog

import (
	"errors"
	"fmt"

	"github.com/cmemd/cmemd/events"
)

// Errors of Open and OpenReadOnly.
var (
	// ErrLocked is a file that another process holds; LockedError says which.
	ErrLocked = errors.New("eventlog: file is in use")
	// ErrNewerFormat is a file written by a newer program; NewerFormatError has both numbers.
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

// LockedError names the process that holds a log's file. PID is 0 and Command empty where the system does not tell.
type LockedError struct {
	Path    string
	PID     int
	Command string // base name of its program
}

func (e *LockedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("eventlog: %s is held by another process", e.Path)
	}
	return fmt.Sprintf("eventlog: %s is held by process %d (%s)", e.Path, e.PID, e.Command)
}

// Is makes errors.Is(err, ErrLocked) true.
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// NewerFormatError is a file of a format that this program does not know yet.
type NewerFormatError struct {
	Path         string
	Found, Known uint32
}

func (e *NewerFormatError) Error() string {
	return fmt.Sprintf("eventlog: %s has format %d, this program reads up to %d: a newer cmemd wrote it", e.Path, e.Found, e.Known)
}

// Is makes errors.Is(err, ErrNewerFormat) true.
func (e *NewerFormatError) Is(target error) bool { return target == ErrNewerFormat }

// CorruptError is the first place at which a log is not what it says it is.
type CorruptError struct {
	Position events.Position // of the bad record; 0 when the file itself is damaged
	Stream   events.StreamID // empty when it is not known
	Reason   string
}

func (e *CorruptError) Error() string {
	switch {
	case e.Position == 0 && e.Stream == "":
		return "eventlog: corrupt: " + e.Reason
	case e.Stream == "":
		return fmt.Sprintf("eventlog: corrupt at position %d: %s", e.Position, e.Reason)
	}
	return fmt.Sprintf("eventlog: corrupt at position %d of %s: %s", e.Position, e.Stream, e.Reason)
}

// Is makes errors.Is(err, events.ErrCorrupt) true.
func (e *CorruptError) Is(target error) bool { return target == events.ErrCorrupt }

func corruptf(at events.Position, stream events.StreamID, format string, args ...any) error {
	return &CorruptError{Position: at, Stream: stream, Reason: fmt.Sprintf(format, args...)}
}
