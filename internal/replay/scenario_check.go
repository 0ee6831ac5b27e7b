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
	if why := outside(s.Respawn.DelayMS, maxMS); why != "" {
		return &ScenarioError{-1, "respawn.delay_ms", why}
	}
	if why := s.Respawn.Tokens.outside(); why != "" {
		return &ScenarioError{-1, "respawn.tokens", why}
	}
	if s.WedgedAtMS != nil {
		if why := outside(*s.WedgedAtMS, maxMS); why != "" {
			return &ScenarioError{-1, "wedged_at_ms", why}
		}
	}
	last := int64(0)
	for i := range s.Events {
		e := &s.Events[i]
		if field, why := e.check(last); why != "" {
			return &ScenarioError{i, field, why}
		}
		last = e.AtMS
	}
	switch why := outside(s.EndMS, maxMS); {
	case why != "":
		return &ScenarioError{-1, "end_ms", why}
	case s.EndMS != 0 && s.EndMS < last:
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
	if why := outside(e.AtMS, maxMS); why != "" {
		return "at_ms", why
	}
	if e.AtMS < last {
		return "at_ms", fmt.Sprintf("is %d, after %d: times ascend", e.AtMS, last)
	}
	if why := outside(e.TookMS, maxMS); why != "" {
		return "took_ms", why
	}
	if why := outside(int64(e.Batch), maxBatch); why != "" {
		return "batch", why
	}
	if why := e.Tokens.outside(); why != "" {
		return "tokens", why
	}
	if e.Fresh != nil {
		if why := e.Fresh.Tokens.outside(); why != "" {
			return "fresh.tokens", why
		}
	}
	if e.Provider != nil {
		if why := outside(e.Provider.ResetsMS, 2*maxMS); why != "" {
			return "provider.resets_at_ms", why
		}
	}
	return "", ""
}

func (t Tokens) outside() string {
	if why := outside(t.In, maxTokens); why != "" {
		return "in " + why
	}
	if why := outside(t.Out, maxTokens); why != "" {
		return "out " + why
	}
	return ""
}

// outside says that n is not within 0 and limit; "" if it is.
func outside(n, limit int64) string {
	if n < 0 || n > limit {
		return fmt.Sprintf("is %d: want 0 to %d", n, limit)
	}
	return ""
}

// end is when s ends.
func (s *Scenario) end() int64 {
	if n := len(s.Events); s.EndMS == 0 && n > 0 {
		return s.Events[n-1].AtMS
	}
	return s.EndMS
}
