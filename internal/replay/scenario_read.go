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
//
// Events are read on all processors while the text arrives: of their text no more is held than is being read.
func ReadScenario(r io.Reader) (*Scenario, error) { return readScenario(r, MaxScenario) }

func readScenario(r io.Reader, limit int64) (*Scenario, error) {
	return newCutter(io.LimitReader(r, limit+1)).scenario(limit)
}

// scenario reads all that c cuts; limit is how many bytes that may be.
func (c *cutter) scenario(limit int64) (*Scenario, error) {
	evs, wrong := readEvents(c)
	rest := &c.rest
	if rest.err != nil {
		return nil, fmt.Errorf("replay: read scenario: %w", rest.err)
	}
	if c.read > limit {
		return nil, ErrScenarioTooLarge
	}
	s, err := rest.scenario()
	if wrong != nil && (err == nil || err.Offset >= int64(rest.at)) { // what is behind the events was not read then
		err = wrong
	}
	if err != nil {
		return nil, err
	}
	if s.Events == nil || len(evs) > 0 {
		s.Events = evs
	}
	return s, s.Check()
}

// remainder is the text of a scenario without its events, which were cut out of its list.
type remainder struct {
	text     []byte
	at       int   // where in text the events stood; 0: none were cut out
	cut      int64 // their bytes
	cutLines int
	err      error // of the reader
}

// scenario reads what is left without its events.
func (m *remainder) scenario() (*Scenario, *SyntaxError) {
	dec := json.NewDecoder(bytes.NewReader(m.text))
	dec.DisallowUnknownFields()
	var s *Scenario
	if err := dec.Decode(&s); err != nil {
		return nil, m.wrong(syntaxOffset(err, dec.InputOffset(), len(m.text)))
	}
	switch {
	case s == nil:
		return nil, m.wrong(dec.InputOffset(), errors.New("null is no scenario"))
	case m.at > 0 && len(s.Events) > 0:
		return nil, m.wrong(dec.InputOffset(), errors.New("it has two lists of events"))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, m.wrong(dec.InputOffset(), errors.New("more than one JSON value"))
	}
	return s, nil
}

// wrong is what is wrong at an offset of m.text, at its place in the scenario.
func (m *remainder) wrong(at int64, err error) *SyntaxError {
	e := &SyntaxError{Line: 1 + bytes.Count(m.text[:at], []byte("\n")), Offset: at, Err: err}
	if m.at > 0 && at > int64(m.at) {
		e.Line, e.Offset = e.Line+m.cutLines, e.Offset+m.cut
	}
	return e
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

// syntaxOffset returns where in a text of length bytes reading it stopped, by its error; at is where the decoder stood.
func syntaxOffset(err error, at int64, length int) (int64, error) {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at = kind.Offset
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		at, err = int64(length), io.ErrUnexpectedEOF
	}
	return min(max(at, 0), int64(length)), err
}
