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
)

// object is a JSON object that is being read. Its getters keep the first problem and then return zeros, so that a
// reader looks at the problem once, at the end.
type object struct {
	path    string // of its keys, for people: "", or "failure."
	values  map[string]json.RawMessage
	asked   []string // keys that mean something here
	problem *error   // shared with the objects within
}

// parse reads one object, with nothing behind it. Keys that stand in it twice are a problem.
func parse(raw []byte, path string, problem *error) *object {
	o := &object{path: path, values: map[string]json.RawMessage{}, problem: problem}
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		o.fail("", "it is no JSON object")
		return o
	}
	for d.More() && *problem == nil {
		o.member(d)
	}
	if *problem != nil {
		return o
	}
	if _, err := d.Token(); err != nil {
		o.fail("", "it is cut off")
		return o
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		o.fail("", "something follows the object")
	}
	return o
}

func (o *object) member(d *json.Decoder) {
	t, err := d.Token()
	key, ok := t.(string)
	if err != nil || !ok {
		o.fail("", "it is no JSON: %v", err)
		return
	}
	var value json.RawMessage
	if err := d.Decode(&value); err != nil {
		o.fail(key, "its value is no JSON: %v", err)
		return
	}
	if _, twice := o.values[key]; twice {
		o.fail(key, "it is given twice")
		return
	}
	o.values[key] = value
}

// fail keeps the first problem, with the path of the key, or with that of the whole object for no key.
func (o *object) fail(key, format string, args ...any) {
	if *o.problem != nil {
		return
	}
	path := strings.TrimSuffix(o.path+key, ".")
	if path == "" {
		*o.problem = fmt.Errorf(format, args...)
		return
	}
	*o.problem = fmt.Errorf("%q: "+format, append([]any{path}, args...)...)
}

// take returns the value of a key that may be there.
func (o *object) take(key string) (json.RawMessage, bool) {
	o.asked = append(o.asked, key)
	raw, ok := o.values[key]
	return raw, ok && *o.problem == nil
}

func (o *object) has(key string) bool { _, ok := o.values[key]; return ok }

// decode reads a value into v, which must be of the kind that what names. null is of no kind.
func (o *object) decode(key string, raw json.RawMessage, v any, what string) bool {
	if err := json.Unmarshal(raw, v); err != nil || string(raw) == "null" {
		o.fail(key, "%s is no %s", short(raw), what)
		return false
	}
	return true
}

func (o *object) text(key string) (s string) {
	if raw, ok := o.take(key); ok {
		o.decode(key, raw, &s, "text")
	}
	return s
}

// word is a text that is one of a list.
func (o *object) word(key string, words ...string) string {
	s := o.text(key)
	if o.has(key) && !slices.Contains(words, s) {
		o.fail(key, "%s is none of %s", short(o.values[key]), strings.Join(words, ", "))
	}
	return s
}

// number is a whole number from low to high; 0 where the key is not there.
func (o *object) number(key string, low, high int64) (n int64) {
	raw, ok := o.take(key)
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || n < low || n > high {
		o.fail(key, "%s is no whole number from %d to %d", short(raw), low, high)
		return 0
	}
	return n
}

// amount is a number from 0 to high; 0 where the key is not there.
func (o *object) amount(key string, high float64) (n float64) {
	raw, ok := o.take(key)
	if !ok {
		return 0
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || !(n >= 0 && n <= high) {
		o.fail(key, "%s is no number from 0 to %.0f", short(raw), high)
		return 0
	}
	return n
}

// yes reads a key that is either true or not there.
func (o *object) yes(key string) bool {
	raw, ok := o.take(key)
	if ok && string(raw) != "true" {
		o.fail(key, "%s: it may only be true", short(raw))
	}
	return ok
}

// within reads the object at key; nil: it is not there.
func (o *object) within(key string) *object {
	raw, ok := o.take(key)
	if !ok {
		return nil
	}
	return parse(raw, o.path+key+".", o.problem)
}

// done makes keys that nobody asked for a problem.
func (o *object) done() {
	var unknown []string
	for key := range o.values {
		if !slices.Contains(o.asked, key) {
			unknown = append(unknown, key)
		}
	}
	if len(unknown) > 0 {
		o.fail(slices.Min(unknown), "it is not known here: %s are", strings.Join(o.asked, ", "))
	}
}

// short is a value for an error message.
func short(raw json.RawMessage) string {
	const most = 60
	if len(raw) > most {
		return strings.ToValidUTF8(string(raw[:most]), "") + "..."
	}
	return string(raw)
}
