package capture

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/transient"
)

// A Kind is one of the ways in which a report is refused for good.
type Kind struct {
	Title string
	Code  int // what reasons in the spool's bad folder end with: the status that HTTP has for it
}

// The kinds of refusals.
var (
	Invalid  = &Kind{"The request is not valid", 400}
	Unknown  = &Kind{"There is no such thing", 404}
	TooLarge = &Kind{"The request is too large", 413}
	Faulted  = &Kind{"The session crashed on this", 500}
	Parked   = &Kind{"The session is parked", 500}
	Internal = &Kind{"Something went wrong inside", 500}
)

// seeLogs is the detail where the cause may not be told.
const seeLogs = "the cause is in the daemon's log file: see `cmemd logs`"

// Unforeseen is the refusal for an error that nobody foresaw.
var Unforeseen = &Refusal{Kind: Internal, Detail: seeLogs}

// Refusal says why a report is not taken, without a word of it.
type Refusal struct {
	Kind   *Kind
	Field  string // what is not valid: a JSON pointer into the report, or the name of a header; empty: all of it
	Detail string
}

// Error implements error. The title is not in it.
func (r *Refusal) Error() string {
	what := r.Detail
	if r.Kind == Invalid {
		what = cmp.Or(strings.TrimPrefix(r.Field, "/"), "the body") + ": " + what
	}
	return fmt.Sprintf("%s (%d)", what, r.Kind.Code)
}

func invalid(field, format string, args ...any) *Refusal {
	return &Refusal{Kind: Invalid, Field: field, Detail: fmt.Sprintf(format, args...)}
}

// LargerThan is the refusal of what is larger than limit, in bytes.
func LargerThan(limit int64) *Refusal {
	return &Refusal{Kind: TooLarge, Detail: fmt.Sprintf("at most %d bytes are taken", limit)}
}

// ErrCut is a body that ended, or stopped coming, before it was whole.
var ErrCut = errors.New("capture: the body was cut")

// ErrSpoolWaits means that what hooks left in the spool is still being taken in. It passes.
var ErrSpoolWaits = transient.Mark(errors.New("capture: what hooks left in the spool is still being taken in"))

// RefusalOf is the refusal that err is; nil: it is none, or an error that may pass, or one that nobody foresaw.
func RefusalOf(err error) *Refusal {
	var r *Refusal
	var field *agents.FieldError
	var syntax *agents.SyntaxError
	switch {
	case errors.As(err, &r):
		return r
	case errors.As(err, &field):
		return invalid("/"+field.Field, "%s", fieldDetail(field.Err))
	case errors.As(err, &syntax):
		return invalid("", "is not JSON from byte %d on", syntax.Offset)
	case errors.Is(err, agents.ErrTooLarge):
		return LargerThan(agents.MaxPayload)
	case errors.Is(err, events.ErrTooLarge):
		return LargerThan(events.MaxPayload)
	case errors.Is(err, ErrCut):
		return invalid("", "the body ends before it is whole")
	case errors.Is(err, agents.ErrUnknownAgent):
		return &Refusal{Kind: Unknown, Detail: "there is no such agent; known are " + strings.Join(agents.Names(), ", ")}
	case errors.Is(err, agents.ErrNoTranscripts):
		return &Refusal{Kind: Unknown, Detail: "no transcripts are read for this agent"}
	case transient.Is(err):
		return nil
	case errors.Is(err, actors.ErrFaulted):
		return &Refusal{Kind: Faulted, Detail: seeLogs}
	case errors.Is(err, actors.ErrParked):
		return &Refusal{Kind: Parked, Detail: "it crashes whenever it is woken; its log is intact"}
	}
	return nil
}

func fieldDetail(err error) string {
	for _, known := range []error{agents.ErrMissing, agents.ErrTooLong, agents.ErrNotAbsolute, agents.ErrNotObject} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "is not valid"
}

// reasonOf says why something is not taken, without a word of it.
func reasonOf(err error) string {
	r := RefusalOf(err)
	if r == nil {
		r = Unforeseen
	}
	return r.Kind.Title + ": " + r.Error()
}
