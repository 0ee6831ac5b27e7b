package refusal

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/transient"
)

// A Kind is one of the ways in which something is refused.
type Kind struct {
	Title string
	Code  int // what reasons in the spool's bad folder end with: the status that HTTP has for it
}

// The kinds of refusals.
var (
	Invalid  = &Kind{"The request is not valid", 400}
	Unknown  = &Kind{"There is no such thing", 404}
	Conflict = &Kind{"Not in this state", 409}
	TooLarge = &Kind{"The request is too large", 413}
	Faulted  = &Kind{"The session crashed on this", 500}
	Parked   = &Kind{"The session is parked", 500}
	Damaged  = &Kind{"The log is damaged", 500}
	Internal = &Kind{"Something went wrong inside", 500}
)

// seeLogs is the detail where the cause may not be told.
const seeLogs = "the cause is in the daemon's log file: see `cmemd logs`"

// Unforeseen is the refusal for an error that nobody foresaw.
var Unforeseen = &Error{Kind: Internal, Detail: seeLogs}

// Error is a refusal.
type Error struct {
	Kind   *Kind
	Title  string // empty: the kind's
	Field  string // what is not valid: a JSON pointer, or the name of a parameter or header; empty: all of it
	Detail string
}

// Error implements error. The title is not in it.
func (e *Error) Error() string {
	what := e.Detail
	if e.Kind == Invalid {
		what = cmp.Or(strings.TrimPrefix(e.Field, "/"), "the body") + ": " + what
	}
	return fmt.Sprintf("%s (%d)", what, e.Kind.Code)
}

// At is the refusal of what is not valid in one field.
func At(field, format string, args ...any) *Error {
	return &Error{Kind: Invalid, Field: field, Detail: fmt.Sprintf(format, args...)}
}

// Absent is the refusal of what is not there.
func Absent(format string, args ...any) *Error {
	return &Error{Kind: Unknown, Detail: fmt.Sprintf(format, args...)}
}

// LargerThan is the refusal of what is larger than limit, in bytes.
func LargerThan(limit int64) *Error {
	return &Error{Kind: TooLarge, Detail: fmt.Sprintf("at most %d bytes are taken", limit)}
}

// Of is the refusal that err is; nil: it is none, or an error that may pass, or one that nobody foresaw.
func Of(err error) *Error {
	var e *Error
	var field *agents.FieldError
	var syntax *agents.SyntaxError
	var damage *eventlog.CorruptError
	switch {
	case errors.As(err, &e):
		return e
	case errors.As(err, &field):
		return At("/"+field.Field, "%s", fieldDetail(field.Err))
	case errors.As(err, &syntax):
		return At("", "is not JSON from byte %d on", syntax.Offset)
	case errors.Is(err, agents.ErrUTF16):
		return At("", "is text in UTF-16, and a transcript is in UTF-8")
	case errors.Is(err, agents.ErrTooLarge):
		return LargerThan(agents.MaxPayload)
	case errors.Is(err, events.ErrTooLarge):
		return LargerThan(events.MaxPayload)
	case errors.Is(err, agents.ErrUnknownAgent):
		return Absent("there is no such agent; known are %s", strings.Join(agents.Names(), ", "))
	case errors.Is(err, agents.ErrNoTranscripts):
		return Absent("no transcripts are read for this agent")
	case transient.Is(err):
		return nil
	case errors.As(err, &damage):
		return &Error{Kind: Damaged, Detail: DamagedAt(damage.Position)}
	case errors.Is(err, actors.ErrFaulted):
		return &Error{Kind: Faulted, Detail: seeLogs}
	case errors.Is(err, actors.ErrParked):
		return &Error{Kind: Parked, Detail: "it crashes whenever it is woken: see `cmemd logs`"}
	}
	return nil
}

// DamagedAt says that a log is damaged, and what to do; position 0 stands for the file itself.
func DamagedAt(at events.Position) string {
	if at == 0 {
		return "the log's file is damaged: `cmemd log salvage`"
	}
	return fmt.Sprintf("the log is damaged at position %d: `cmemd log salvage`", at)
}

func fieldDetail(err error) string {
	for _, known := range []error{agents.ErrMissing, agents.ErrNotTime, agents.ErrTooLong, agents.ErrNotAbsolute, agents.ErrNotObject} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "is not valid"
}

// Reason says why something is not done, in one line.
func Reason(err error) string {
	e := cmp.Or(Of(err), Unforeseen)
	return cmp.Or(e.Title, e.Kind.Title) + ": " + e.Error()
}
