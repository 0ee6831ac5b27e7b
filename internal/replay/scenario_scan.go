package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/jsonscan"
)

// eventScanner reads the JSON of one event as programs write it. What it does not know, or finds wrong, it leaves to
// encoding/json, which is four times slower and says what is the matter: for all that it takes, both read the same.
type eventScanner struct {
	names map[string]string // what comes again and again: one string, however many events carry it
	scan  jsonscan.Scanner[[]byte]
	path  []byte // of the member whose value is next: its name, or that of the object around it, a line end, which no name has, and its own
	plain []byte // a string without its escapes
}

// read reads an event as the scanner knows it or else, whatever it is, as encoding/json does; at is where that stopped.
func (s *eventScanner) read(text []byte, e *Event) (at int, err error) {
	if s.scanEvent(text, e) {
		return 0, nil
	}
	*e = Event{}
	return decodeStrictly(text, e)
}

// scanEvent reads all of text; false: it has to be read otherwise, and e holds what was read until then.
func (s *eventScanner) scanEvent(text []byte, e *Event) bool {
	s.scan.Reset(text)
	prefix, depth, pending := 0, 0, false // the length of the outer name in the path; the depth of the last name; whether its value is next
	for {
		t, more := s.scan.Next()
		raw := text[t.Start:t.End]
		switch {
		case !more:
			return s.scan.Valid() && !pending
		case t.Key && t.Depth == 1 && !pending:
			s.path = append(s.path[:0], raw[1:len(raw)-1]...)
			prefix, depth, pending = len(s.path), 1, true
		case t.Key && t.Depth == 2 && (!pending || depth == 1):
			s.path = append(append(s.path[:prefix], '\n'), raw[1:len(raw)-1]...)
			depth, pending = 2, true
		case !t.Key && t.Depth == depth && pending && s.setField(e, raw):
			pending = false
		default:
			return false
		}
	}
}

// setField reads the field of an event that the path names; raw is its value.
func (s *eventScanner) setField(e *Event, raw []byte) bool {
	switch string(s.path) {
	case "at_ms":
		return wholeNumber(raw, &e.AtMS)
	case "took_ms":
		return wholeNumber(raw, &e.TookMS)
	case "batch":
		return wholeNumber(raw, &e.Batch)
	case "kind":
		return readName(s, raw, &e.Kind)
	case "form":
		return readName(s, raw, &e.Form)
	case "session":
		return readName(s, raw, &e.Session)
	case "observer":
		return readName(s, raw, &e.Observer)
	case "turn":
		return s.string(raw, &e.Turn)
	case "output":
		var text string
		ok := s.string(raw, &text)
		e.Output = events.NewOutput(text)
		return ok
	case "position":
		return raw[0] != '-' && wholeNumber(raw, &e.Position)
	case "tokens\nin":
		return wholeNumber(raw, &e.Tokens.In)
	case "tokens\nout":
		return wholeNumber(raw, &e.Tokens.Out)
	case "provider\nis_error":
		e.failure().IsError = raw[0] == 't'
		return raw[0] == 't' || raw[0] == 'f'
	case "provider\ncode":
		return readName(s, raw, &e.failure().Code)
	case "provider\nresets_at_ms":
		return wholeNumber(raw, &e.failure().ResetsMS)
	}
	return false
}

// failure is what the transport said at e.
func (e *Event) failure() *Failure {
	if e.Provider == nil {
		e.Provider = new(Failure)
	}
	return e.Provider
}

// readName is string for what comes again and again.
func readName[T ~string](s *eventScanner, raw []byte, to *T) bool {
	if raw[0] != '"' || bytes.IndexByte(raw, '\\') >= 0 || !utf8.Valid(raw) {
		return false
	}
	raw = raw[1 : len(raw)-1]
	known, ok := s.names[string(raw)]
	if !ok {
		known = string(raw)
		s.names[known] = known
	}
	*to = T(known)
	return true
}

func (s *eventScanner) string(raw []byte, to *string) bool {
	if raw[0] != '"' || !utf8.Valid(raw) {
		return false
	}
	raw = raw[1 : len(raw)-1]
	if bytes.IndexByte(raw, '\\') >= 0 {
		plain, rest := jsonscan.AppendUnquoted(s.plain[:0], raw)
		if len(rest) > 0 {
			return false
		}
		raw, s.plain = plain, plain
	}
	*to = string(raw)
	return true
}

// wholeNumber reads a whole number that fits.
func wholeNumber[T int | int64 | uint64](raw []byte, to *T) bool {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	*to = T(n)
	return err == nil && int64(*to) == n
}

// decodeStrictly reads the one JSON value of a text, and returns where reading it stopped.
func decodeStrictly(text []byte, v any) (at int, err error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	err = dec.Decode(v)
	at = int(dec.InputOffset())
	if err == nil {
		if _, end := dec.Token(); !errors.Is(end, io.EOF) {
			err = errors.New("more than one JSON value")
		}
		return at, err
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = int(syntax.Offset)
	case errors.As(err, &kind):
		at = int(kind.Offset)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		at, err = len(text), io.ErrUnexpectedEOF
	}
	return min(max(at, 0), len(text)), err
}
