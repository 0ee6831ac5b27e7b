package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxScenario is the most bytes that a scenario may have: recordings larger than this are taken in stretches.
const MaxScenario = 256 << 20

// ErrScenarioTooLarge is returned by ReadScenario for more than MaxScenario bytes.
var ErrScenarioTooLarge = errors.New("replay: scenario is larger than 256 MiB")

// ReadScenario reads one scenario as JSON from r, to its end. Absent fields are zero. What makes no sense is an error: a
// *ScenarioError for values, a *SyntaxError for text that is not JSON, or not a scenario's, and ErrScenarioTooLarge.
func ReadScenario(r io.Reader) (*Scenario, error) { return readScenario(r, MaxScenario) }

func readScenario(r io.Reader, limit int64) (*Scenario, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("replay: read scenario: %w", err)
	}
	if int64(len(b)) > limit {
		return nil, ErrScenarioTooLarge
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	var s *Scenario
	if err := dec.Decode(&s); err != nil {
		return nil, syntaxError(b, dec.InputOffset(), err)
	}
	if s == nil {
		return nil, syntaxError(b, dec.InputOffset(), errors.New("null is no scenario"))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, syntaxError(b, dec.InputOffset(), errors.New("more than one JSON value"))
	}
	return s, s.Check()
}

// SyntaxError is text that is not JSON, or not a scenario's.
type SyntaxError struct {
	Line   int   // from 1
	Offset int64 // in bytes, from 0: where reading stopped
	Err    error // from encoding/json
}

// Error says where and why.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("replay: scenario, line %d (byte %d): %v", e.Line, e.Offset, e.Err)
}

// Unwrap returns the cause.
func (e *SyntaxError) Unwrap() error { return e.Err }

func syntaxError(b []byte, at int64, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at = kind.Offset
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		at, err = int64(len(b)), io.ErrUnexpectedEOF
	}
	at = min(max(at, 0), int64(len(b)))
	return &SyntaxError{Line: 1 + bytes.Count(b[:at], []byte("\n")), Offset: at, Err: err}
}
