package replay

import (
	"bytes"
	"unicode/utf8"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/jsonscan"
)

// eventScanner reads the JSON of one event as programs write it. What it does not know, or finds wrong, it leaves to
// encoding/json, which is four times slower and says what is the matter: for all that it takes, both read the same.
type eventScanner struct {
	names map[string]string // what comes again and again: one string, however many events carry it
	text  []byte
	at    int
	plain []byte // a string without its escapes
}

// event reads all of text; false: it has to be read otherwise, and e holds what was read until then.
func (s *eventScanner) event(text []byte, e *Event) bool {
	s.text, s.at = text, 0
	read := s.object(func(key []byte) bool {
		switch string(key) {
		case "at_ms":
			return s.number(&e.AtMS)
		case "took_ms":
			return s.number(&e.TookMS)
		case "batch":
			var n int64
			ok := s.number(&n)
			e.Batch = int(n)
			return ok && int64(e.Batch) == n
		case "kind":
			return s.name(&e.Kind)
		case "form":
			var form string
			ok := s.name(&form)
			e.Form = events.Form(form)
			return ok
		case "session":
			return s.name(&e.Session)
		case "observer":
			return s.name(&e.Observer)
		case "turn":
			return s.string(&e.Turn)
		case "output":
			var text string
			ok := s.string(&text)
			e.Output = events.NewOutput(text)
			return ok
		case "position":
			var n int64
			ok := s.number(&n)
			e.Position = uint64(n)
			return ok && n >= 0
		case "tokens":
			return s.tokens(&e.Tokens)
		case "provider":
			if e.Provider == nil {
				e.Provider = new(Failure)
			}
			return s.failure(e.Provider)
		}
		return false
	})
	return read && s.next() == 0 && s.at == len(s.text)
}

func (s *eventScanner) tokens(t *Tokens) bool {
	return s.object(func(key []byte) bool {
		switch string(key) {
		case "in":
			return s.number(&t.In)
		case "out":
			return s.number(&t.Out)
		}
		return false
	})
}

func (s *eventScanner) failure(f *Failure) bool {
	return s.object(func(key []byte) bool {
		switch string(key) {
		case "is_error":
			return s.truth(&f.IsError)
		case "code":
			return s.name(&f.Code)
		case "resets_at_ms":
			return s.number(&f.ResetsMS)
		}
		return false
	})
}

// next skips white space and returns the byte that is next; 0: there is none.
func (s *eventScanner) next() byte {
	if s.at = jsonscan.Space(s.text, s.at); s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

// take takes c if it is next.
func (s *eventScanner) take(c byte) bool {
	if s.next() != c {
		return false
	}
	s.at++
	return true
}

// object reads an object: field reads the value of a key, or says that it cannot.
func (s *eventScanner) object(field func(key []byte) bool) bool {
	if !s.take('{') {
		return false
	}
	if s.take('}') {
		return true
	}
	for {
		key, plain := s.quoted()
		if !plain || !s.take(':') || !field(key) {
			return false
		}
		if s.take('}') {
			return true
		}
		if !s.take(',') {
			return false
		}
	}
}

// quoted takes a string and returns what stands between its quotes; plain: there is no escape in it. Where it is no
// string, raw is nil.
func (s *eventScanner) quoted() (raw []byte, plain bool) {
	if !s.take('"') {
		return nil, false
	}
	from := s.at
	plain = true
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '"':
			raw = s.text[from:s.at:s.at]
			s.at++
			return raw, plain
		case c == '\\':
			plain = false
			s.at++
		case c < ' ':
			return nil, false
		}
	}
	return nil, false
}

// name is string for what comes again and again.
func (s *eventScanner) name(to *string) bool {
	raw, plain := s.quoted()
	if !plain || !utf8.Valid(raw) {
		return false
	}
	known, ok := s.names[string(raw)]
	if !ok {
		known = string(raw)
		s.names[known] = known
	}
	*to = known
	return true
}

func (s *eventScanner) string(to *string) bool {
	raw, plain := s.quoted()
	if raw == nil || !utf8.Valid(raw) {
		return false
	}
	if !plain {
		var ok bool
		if raw, ok = jsonscan.AppendUnquoted(s.plain[:0], raw); !ok {
			return false
		}
		s.plain = raw
	}
	*to = string(raw)
	return true
}

// maxDigits is how many digits a number may have that fits whatever they are.
const maxDigits = 18

func (s *eventScanner) number(to *int64) bool {
	sign := int64(1)
	if s.take('-') {
		sign = -1
	}
	n, from := int64(0), s.at
	for ; s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9'; s.at++ {
		n = 10*n + int64(s.text[s.at]-'0')
	}
	digits := s.at - from
	*to = sign * n
	return digits > 0 && digits <= maxDigits && (s.text[from] != '0' || digits == 1)
}

func (s *eventScanner) truth(to *bool) bool {
	*to = s.next() == 't'
	return s.word("true") || s.word("false")
}

// word takes w if it is next.
func (s *eventScanner) word(w string) bool {
	if !bytes.HasPrefix(s.text[s.at:], []byte(w)) {
		return false
	}
	s.at += len(w)
	return true
}
