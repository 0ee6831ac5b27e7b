package api

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Problem is an answer that is no success, as RFC 9457 has it. The client returns it as an error.
type Problem struct {
	Type   string       `json:"type"`   // "urn:cmemd:" and a word that does not change, see the Problem... constants
	Title  string       `json:"title"`  // of the type
	Status int          `json:"status"` // HTTP's
	Detail string       `json:"detail,omitempty"`
	Errors []FieldError `json:"errors,omitempty"` // what exactly is wrong with the request, the cause first

	RetryAfter time.Duration `json:"-"` // when to try again; 0: not said
}

// FieldError is one thing that is wrong with a request.
type FieldError struct {
	Pointer string `json:"pointer"` // JSON pointer into the body, empty: all of it; or the name of a parameter or header
	Detail  string `json:"detail"`
}

// The types of problems. What is behind them is on record in the daemon's log file only where it is nobody's words.
const (
	ProblemInvalid      = "urn:cmemd:invalid"       // 400, 422: the request itself
	ProblemUnauthorized = "urn:cmemd:unauthorized"  // 401: no token, or another one
	ProblemForbidden    = "urn:cmemd:forbidden"     // 403: another host or origin
	ProblemNotFound     = "urn:cmemd:not-found"     // 404
	ProblemAmbiguous    = "urn:cmemd:ambiguous"     // 409: the beginning of more than one id
	ProblemConflict     = "urn:cmemd:conflict"      // 409: not in this state
	ProblemTooLarge     = "urn:cmemd:too-large"     // 413
	ProblemMethod       = "urn:cmemd:method"        // 405
	ProblemBusy         = "urn:cmemd:busy"          // 503: try again
	ProblemStarting     = "urn:cmemd:starting"      // 503: not ready yet
	ProblemBehind       = "urn:cmemd:behind"        // 503: the views do not know the position asked for yet
	ProblemStopping     = "urn:cmemd:stopping"      // 503: the daemon ends
	ProblemExchanged    = "urn:cmemd:log-exchanged" // 503: it ends once it has saved what it had recorded in a log that was exchanged
	ProblemDiskFull     = "urn:cmemd:disk-full"     // 503: nothing is taken until there is room
	ProblemFaulted      = "urn:cmemd:faulted"       // 500: a session crashed on it
	ProblemDamaged      = "urn:cmemd:log-damaged"   // 500: what is asked for is in a part of the log that cannot be read
	ProblemInternal     = "urn:cmemd:internal"      // 500: see the daemon's log file
)

// Error says what is wrong, the cause first.
func (p *Problem) Error() string {
	parts := make([]string, 0, len(p.Errors)+1)
	for _, e := range p.Errors {
		parts = append(parts, cmp.Or(strings.TrimPrefix(e.Pointer, "/"), "the body")+": "+e.Detail)
	}
	switch {
	case len(parts) > 0:
	case p.Detail != "":
		parts = append(parts, p.Detail)
	default:
		parts = append(parts, p.Title)
	}
	return fmt.Sprintf("%s (%d)", strings.Join(parts, "; "), p.Status)
}

// ProblemType is the media type of a Problem.
const ProblemType = "application/problem+json"
