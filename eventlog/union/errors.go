package union

import (
	"errors"
	"fmt"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/transient"
)

// Errors of a Union.
var (
	// ErrOwn is a change to the own log, or a union of a log that is empty: that has no name yet.
	ErrOwn = errors.New("union: not with the own log")
	// ErrForked is a run that has another record at a position than its copy has: there are two logs of one name.
	ErrForked = errors.New("union: the copy has another record at this position")
	// ErrGap is a run that does not begin where its copy ends; GapError says where that is.
	ErrGap = errors.New("union: records are missing before these")
	// ErrUnknown is a log of which nothing is here.
	ErrUnknown = errors.New("union: no copy of this log")
	// ErrCopy is a copy that cannot be read or written until Settle has opened it again.
	ErrCopy = transient.Mark(errors.New("union: a copy failed"))
)

// GapError says which record is missing.
type GapError struct {
	Log         events.LogID
	Want, Given events.Position
}

func (e *GapError) Error() string {
	return fmt.Sprintf("union: log %s goes on at %d, the records given begin at %d", e.Log, e.Want, e.Given)
}

// Is makes errors.Is(err, ErrGap) true.
func (e *GapError) Is(target error) bool { return target == ErrGap }

// copyErr is an error of the copy of a log. It is not ErrFailed: that is said of the own log alone.
func copyErr(log events.LogID, err error) error {
	if errors.Is(err, eventlog.ErrFailed) || errors.Is(err, eventlog.ErrClosed) {
		return fmt.Errorf("%w: of log %s: %v", ErrCopy, log, err)
	}
	return fmt.Errorf("union: copy of log %s: %w", log, err)
}
