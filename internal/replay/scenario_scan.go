package replay

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/jsonscan"
)

// eventScanner reads the JSON of one event as programs write it. What it does not know, or finds wrong, it leaves to
// encoding/json, which is four times slower and says what is the matter: for all that it takes, both read the same.
type eventScanner struct {
	names map[string]string // what comes again and again: one string, however many events carry it
	scan  jsonscan.Scanner
	plain []byte // a string without its escapes
}

// event reads all of text; false: it has to be read otherwise, and e holds what was read until then.
func (s *eventScanner) event(text []byte, e *Event) bool {
	s.scan.Reset(text)
	var outer, key []byte // the members whose value is next, of the event and of an object in it; nil: there is none
	filled := true        // the value of outer was read, or some of it
	for {
		t, more := s.scan.Next()
		raw := text[t.Start:t.End]
		switch {
		case !more:
			return s.scan.Valid() && filled && key == nil
		case t.Key && t.Depth == 1 && filled && key == nil:
			outer, filled = raw[1:len(raw)-1], false
		case t.Key && t.Depth == 2 && key == nil:
			key, filled = raw[1:len(raw)-1], true
		case t.Depth == 1 && !filled && s.member(e, outer, raw):
			outer, filled = nil, true
		case t.Depth == 2 && key != nil && s.inner(e, outer, key, raw):
			key = nil
		default:
			return false
		}
	}
}

// member reads a member of an event; raw is its value.
func (s *eventScanner) member(e *Event, key, raw []byte) bool {
	switch string(key) {
	case "at_ms":
		return wholeNumber(raw, &e.AtMS)
	case "took_ms":
		return wholeNumber(raw, &e.TookMS)
	case "batch":
		return wholeNumber(raw, &e.Batch)
	case "kind":
		return s.name(raw, &e.Kind)
	case "form":
		var form string
		ok := s.name(raw, &form)
		e.Form = events.Form(form)
		return ok
	case "session":
		return s.name(raw, &e.Session)
	case "observer":
		return s.name(raw, &e.Observer)
	case "turn":
		return s.string(raw, &e.Turn)
	case "output":
		var text string
		ok := s.string(raw, &text)
		e.Output = events.NewOutput(text)
		return ok
	case "position":
		return raw[0] != '-' && wholeNumber(raw, &e.Position)
	}
	return false
}

// inner reads a member of an object that is the value of a member of an event; raw is its value.
func (s *eventScanner) inner(e *Event, outer, key, raw []byte) bool {
	switch string(outer) {
	case "tokens":
		switch string(key) {
		case "in":
			return wholeNumber(raw, &e.Tokens.In)
		case "out":
			return wholeNumber(raw, &e.Tokens.Out)
		}
	case "provider":
		if e.Provider == nil {
			e.Provider = new(Failure)
		}
		switch string(key) {
		case "is_error":
			e.Provider.IsError = raw[0] == 't'
			return raw[0] == 't' || raw[0] == 'f'
		case "code":
			return s.name(raw, &e.Provider.Code)
		case "resets_at_ms":
			return wholeNumber(raw, &e.Provider.ResetsMS)
		}
	}
	return false
}

// name is string for what comes again and again.
func (s *eventScanner) name(raw []byte, to *string) bool {
	if raw[0] != '"' || bytes.IndexByte(raw, '\\') >= 0 || !utf8.Valid(raw) {
		return false
	}
	raw = raw[1 : len(raw)-1]
	known, ok := s.names[string(raw)]
	if !ok {
		known = string(raw)
		s.names[known] = known
	}
	*to = known
	return true
}

func (s *eventScanner) string(raw []byte, to *string) bool {
	if raw[0] != '"' || !utf8.Valid(raw) {
		return false
	}
	raw = raw[1 : len(raw)-1]
	if bytes.IndexByte(raw, '\\') >= 0 {
		var ok bool
		if raw, ok = jsonscan.AppendUnquoted(s.plain[:0], raw); !ok {
			return false
		}
		s.plain = raw
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
