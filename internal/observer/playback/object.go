package playback

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// member is a key of a JSON object, with how its value is read and written.
type member struct {
	key    string
	read   func(raw json.RawMessage) error
	write  func() (value any, given bool) // what has the zero value is not given
	always bool                           // it is written all the same
}

// keyError is what is wrong at a key.
type keyError struct {
	path string // of keys, with points between; empty: the whole object
	why  string
}

func (e *keyError) Error() string {
	if e.path == "" {
		return e.why
	}
	return fmt.Sprintf("%q: %s", e.path, e.why)
}

// wrong is an error of the whole value that is being read.
func wrong(format string, args ...any) error { return &keyError{why: fmt.Sprintf(format, args...)} }

// at is err, if it is one, as that of a key.
func at(key string, err error) error {
	if inner, ok := errors.AsType[*keyError](err); ok {
		return &keyError{path: strings.TrimSuffix(key+"."+inner.path, "."), why: inner.why}
	}
	return err
}

// parse returns the values of one object, with nothing behind it, by their keys. No key may stand in it twice.
func parse(raw []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, wrong("it is no JSON object")
	}
	values := map[string]json.RawMessage{}
	for d.More() {
		t, err := d.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return nil, wrong("it is no JSON: %v", err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, at(key, wrong("its value is no JSON: %v", err))
		}
		if _, twice := values[key]; twice {
			return nil, at(key, wrong("it is given twice"))
		}
		values[key] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, wrong("it is cut off")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, wrong("something follows the object")
	}
	return values, nil
}

// take reads values, of which each must be that of a member.
func take(values map[string]json.RawMessage, members []member) error {
	var known, unknown []string
	for _, m := range members {
		known = append(known, m.key)
		if raw, ok := values[m.key]; ok {
			if err := m.read(raw); err != nil {
				return at(m.key, err)
			}
		}
	}
	for key := range values {
		if !slices.Contains(known, key) {
			unknown = append(unknown, key)
		}
	}
	if len(unknown) > 0 {
		return at(slices.Min(unknown), wrong("it is not known here: %s are", strings.Join(known, ", ")))
	}
	return nil
}

// appendObject appends members as a JSON object, in their order.
func appendObject(b []byte, members []member) []byte {
	b = append(b, '{')
	for _, m := range members {
		value, given := m.write()
		if !given && !m.always {
			continue
		}
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(strconv.AppendQuote(b, m.key), ':')
		if inner, ok := value.([]member); ok {
			b = appendObject(b, inner)
			continue
		}
		var text bytes.Buffer
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false)
		_ = e.Encode(value) // texts and numbers always are JSON
		b = append(b, bytes.TrimSpace(text.Bytes())...)
	}
	return append(b, '}')
}

// alwaysWritten is m, which is written whatever its value is.
func alwaysWritten(m member) member {
	m.always = true
	return m
}

// valued is a member whose value is at v.
func valued[T comparable](key string, v *T, read func(raw json.RawMessage) error) member {
	return member{key: key, read: read, write: func() (any, bool) { return *v, *v != *new(T) }}
}

func text[T ~string](key string, v *T) member {
	return valued(key, v, func(raw json.RawMessage) error {
		if err := json.Unmarshal(raw, v); err != nil || string(raw) == "null" {
			return wrong("%s is no text", short(raw))
		}
		return nil
	})
}

// word is a text that is one of a list.
func word[T ~string](key string, v *T, words ...T) member {
	m := text(key, v)
	anyText := m.read
	m.read = func(raw json.RawMessage) error {
		if err := anyText(raw); err != nil || slices.Contains(words, *v) {
			return err
		}
		return wrong("%s is none of %s", short(raw), strings.ReplaceAll(strings.Trim(fmt.Sprint(words), "[]"), " ", ", "))
	}
	return m
}

// number is a whole number from low to high.
func number[T int | int64](key string, v *T, low, high int64) member {
	return valued(key, v, func(raw json.RawMessage) error {
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil || n < low || n > high {
			return wrong("%s is no whole number from %d to %d", short(raw), low, high)
		}
		*v = T(n)
		return nil
	})
}

// millis is a time in milliseconds.
func millis(key string, v *time.Duration) member {
	n := v.Milliseconds()
	m := number(key, &n, 0, maxMillis)
	whole := m.read
	m.read = func(raw json.RawMessage) error {
		err := whole(raw)
		*v = time.Duration(n) * time.Millisecond
		return err
	}
	return m
}

// amount is a number from 0 to high.
func amount(key string, v *float64, high float64) member {
	return valued(key, v, func(raw json.RawMessage) error {
		n, err := strconv.ParseFloat(string(raw), 64)
		if err != nil || !(n >= 0 && n <= high) {
			return wrong("%s is no number from 0 to %.0f", short(raw), high)
		}
		*v = n
		return nil
	})
}

// yes is either true or not there.
func yes(key string, v *bool) member {
	return valued(key, v, func(raw json.RawMessage) error {
		if *v = string(raw) == "true"; !*v {
			return wrong("%s: it may only be true", short(raw))
		}
		return nil
	})
}

// within is an object of members. It is written where one of them is given.
func within(key string, members []member) member {
	return member{key: key, read: func(raw json.RawMessage) error {
		values, err := parse(raw)
		if err != nil {
			return err
		}
		return take(values, members)
	}, write: func() (any, bool) {
		return members, slices.ContainsFunc(members, func(m member) bool { _, given := m.write(); return given })
	}}
}

// short is a value for an error message.
func short(raw json.RawMessage) string {
	const most = 60
	if len(raw) > most {
		return strings.ToValidUTF8(string(raw[:most]), "") + "..."
	}
	return string(raw)
}
