package replay

import (
	"bytes"
	"fmt"
	"time"

	"github.com/cmemd/cmemd/events"
)

// The bounds of a scenario keep sums of any number of events within an int64, and times within a time.Duration.
const (
	maxMS     = int64(100 * 365 * 24 * time.Hour / time.Millisecond)
	maxBatch  = 1_000_000_000
	maxTokens = 100_000_000_000
)

// ScenarioError is a scenario that makes no sense.
type ScenarioError struct {
	Event int    // its number, from 0; -1: the scenario itself
	Field string // as JSON names it
	Why   string
}

// Error names the event, the field and what is wrong with it.
func (e *ScenarioError) Error() string {
	if e.Event < 0 {
		return fmt.Sprintf("replay: %s %s", e.Field, e.Why)
	}
	return fmt.Sprintf("replay: events[%d].%s %s", e.Event, e.Field, e.Why)
}

// SyntaxError is text that is not JSON, or not a scenario's.
type SyntaxError struct {
	Line   int   // from 1
	Offset int64 // in bytes, from 0: where reading stopped
	Err    error // from encoding/json
}

// syntaxError is what is wrong at a place of a scenario's text.
func syntaxError(text []byte, at int, err error) *SyntaxError {
	return &SyntaxError{Line: 1 + bytes.Count(text[:at], []byte("\n")), Offset: int64(at), Err: err}
}

// Error says where and why.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("replay: scenario, line %d (byte %d): %v", e.Line, e.Offset, e.Err)
}

// Unwrap returns the cause.
func (e *SyntaxError) Unwrap() error { return e.Err }

// Check returns a *ScenarioError for the first thing in s that makes no sense. An EndMS of 0 makes sense: the scenario
// then ends with its last event.
func (s *Scenario) Check() error {
	var wedged int64
	if s.WedgedAtMS != nil {
		wedged = *s.WedgedAtMS
	}
	field, why := firstOutside(
		bounded{"respawn.delay_ms", "", s.Respawn.DelayMS, maxMS},
		bounded{"respawn.tokens", "in ", s.Respawn.Tokens.In, maxTokens},
		bounded{"respawn.tokens", "out ", s.Respawn.Tokens.Out, maxTokens},
		bounded{"wedged_at_ms", "", wedged, maxMS},
		bounded{"end_ms", "", s.EndMS, maxMS},
	)
	if why != "" {
		return &ScenarioError{-1, field, why}
	}
	last := int64(0)
	for i := range s.Events {
		if field, why := s.Events[i].check(last); why != "" {
			return &ScenarioError{i, field, why}
		}
		last = s.Events[i].AtMS
	}
	if s.EndMS != 0 && s.EndMS < last {
		return &ScenarioError{-1, "end_ms", fmt.Sprintf("is %d: the last event is at %d", s.EndMS, last)}
	}
	return nil
}

// check returns the first field of e that makes no sense behind an event at last.
func (e *Event) check(last int64) (field, why string) {
	switch e.Kind {
	case KindObservation, KindSummary, KindExit:
	default:
		return "kind", fmt.Sprintf("is %q: want %s, %s or %s", e.Kind, KindObservation, KindSummary, KindExit)
	}
	switch e.Form {
	case "", events.FormXML, events.FormStructured:
	default:
		return "form", fmt.Sprintf("is %q: want %s or %s", e.Form, events.FormXML, events.FormStructured)
	}
	var fresh Fresh
	if e.Fresh != nil {
		fresh = *e.Fresh
	}
	var failed Failure
	if e.Provider != nil {
		failed = *e.Provider
	}
	field, why = firstOutside(
		bounded{"at_ms", "", e.AtMS, maxMS},
		bounded{"took_ms", "", e.TookMS, maxMS},
		bounded{"batch", "", int64(e.Batch), maxBatch},
		bounded{"tokens", "in ", e.Tokens.In, maxTokens},
		bounded{"tokens", "out ", e.Tokens.Out, maxTokens},
		bounded{"fresh.tokens", "in ", fresh.Tokens.In, maxTokens},
		bounded{"fresh.tokens", "out ", fresh.Tokens.Out, maxTokens},
		bounded{"provider.resets_at_ms", "", failed.ResetsMS, 2 * maxMS},
	)
	if why == "" && e.AtMS < last {
		return "at_ms", fmt.Sprintf("is %d, after %d: times ascend", e.AtMS, last)
	}
	return field, why
}

// bounded is a number of a scenario, which may be from 0 to its limit.
type bounded struct {
	field, part string
	n, limit    int64
}

// firstOutside returns the field of the first number that may not be, and why; both empty: all may.
func firstOutside(all ...bounded) (field, why string) {
	for _, one := range all {
		if one.n < 0 || one.n > one.limit {
			return one.field, fmt.Sprintf("%sis %d: want 0 to %d", one.part, one.n, one.limit)
		}
	}
	return "", ""
}

// end is when s ends.
func (s *Scenario) end() int64 {
	if n := len(s.Events); s.EndMS == 0 && n > 0 {
		return s.Events[n-1].AtMS
	}
	return s.EndMS
}
