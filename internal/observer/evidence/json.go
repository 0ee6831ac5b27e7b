package evidence

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/internal/jsonscan"
	"github.com/cmemd/cmemd/internal/toolinput"
)

const (
	// maxDepth is how deep values are looked into: paths of known tools lie three levels down, lines of diffs seven.
	maxDepth = 8
	// maxMembers bounds what is kept of one object or list.
	maxMembers = 1000
)

// value is a JSON value that may have been cut short. Strings stay raw until they are asked for, because most of them
// are file contents that nobody reads.
type value struct {
	raw     string // of a string without its quotes, or of a number or word
	text    bool   // a string
	cut     bool   // a string whose end is missing
	members []member
	list    []value
	object  bool
}

type member struct {
	key string // as written
	value
}

// is reports whether the member's key has the plain form key: file_path and filePath are one key, filepath.
func (m *member) is(key string) bool {
	at := 0
	for i := range len(m.key) {
		c := m.key[i]
		switch {
		case c == '_' || c == '-':
			continue
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		}
		if at == len(key) || key[at] != c {
			return false
		}
		at++
	}
	return at == len(key)
}

// parseJSON reads as much of text as is JSON. A value that was cut keeps what stood before the cut; text that does not
// begin as JSON gives the zero value. It never fails and takes linear time.
func parseJSON(text string) value {
	s := scanner{text: text}
	v, _ := s.value(0)
	if v.text { // JSON inside of a JSON string: some clients encode twice
		if inner := strings.TrimSpace(v.String()); strings.HasPrefix(inner, "{") {
			s = scanner{text: inner}
			if in, _ := s.value(0); in.object {
				return in
			}
		}
	}
	return v
}

// String is the text of a string value, unquoted as far as it can be; "" for other values.
func (v value) String() string {
	if !v.text {
		return ""
	}
	return jsonscan.UnquoteCut(v.raw)
}

// get returns the first member whose key is one of keys, in the order of keys. Here and below keys are given in their
// plain form: in lowercase, without '_' and '-'.
func (v value) get(keys ...string) value {
	for _, k := range keys {
		for i := range v.members {
			if v.members[i].is(k) {
				return v.members[i].value
			}
		}
	}
	return value{}
}

// first returns the first member of the first of uses that there is.
func (v value) first(uses ...toolinput.Use) value {
	for _, u := range uses {
		for i := range v.members {
			if toolinput.Of(v.members[i].key).Is(u) {
				return v.members[i].value
			}
		}
	}
	return value{}
}

// query is what is searched for: the first member that says so and is not perhaps only where to search.
func (v value) query() value {
	for i := range v.members {
		if use := toolinput.Of(v.members[i].key); use.Is(toolinput.Query) && !use.Is(toolinput.Glob) {
			return v.members[i].value
		}
	}
	return v.first(toolinput.Query)
}

// holds reports whether a member is of any of these uses.
func (v value) holds(use toolinput.Use) bool {
	return slices.ContainsFunc(v.members, func(m member) bool { return toolinput.Of(m.key).Is(use) })
}

func (v value) has(keys ...string) bool {
	for i := range v.members {
		if slices.ContainsFunc(keys, v.members[i].is) {
			return true
		}
	}
	return false
}

// isTrue reports whether any of the members is the word true.
func (v value) isTrue(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return v.get(key).raw == "true" })
}

// strings are the value's text, or the texts of its list.
func (v value) strings() []string {
	if v.text {
		return []string{v.String()}
	}
	var out []string
	for _, e := range v.list {
		if e.text {
			out = append(out, e.String())
		}
	}
	return out
}

// names is strings without those that were cut: half a name names something else.
func (v value) names() []string {
	if v.cut {
		return nil
	}
	v.list = slices.DeleteFunc(slices.Clone(v.list), func(e value) bool { return e.cut })
	return v.strings()
}

// A scanner reads a text that may be cut off, and keeps what it understood until then: one pass for all levels, where those of
// package jsonscan would read what lies deep once for each level above it.
type scanner struct {
	text string
	at   int
}

func (s *scanner) space() {
	for s.at < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.at]) >= 0 {
		s.at++
	}
}

// take consumes c, after white space, if it is next.
func (s *scanner) take(c byte) bool {
	s.space()
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

// value reads the next value. ok is false where the text ends in it or stops being JSON: nothing may follow then.
func (s *scanner) value(depth int) (v value, ok bool) {
	switch {
	case s.take('"'):
		v.text = true
		v.raw, ok = s.str()
		v.cut = !ok
	case s.take('{'):
		v.object = true
		v.members, ok = s.object(depth + 1)
	case s.take('['):
		v.list, ok = s.array(depth + 1)
	default:
		start := s.at
		for s.at < len(s.text) && strings.IndexByte(" \t\r\n,:]}\"[{", s.text[s.at]) < 0 {
			s.at++
		}
		v.raw = s.text[start:s.at]
		ok = v.raw != "" && s.at < len(s.text) || isWord(v.raw)
	}
	return v, ok
}

func isWord(raw string) bool { return json.Valid([]byte(raw)) }

// str reads to the closing quote; the opening one is gone.
func (s *scanner) str() (raw string, ok bool) {
	n := jsonscan.StringEnd(s.text[s.at-1:])
	if n == 0 {
		raw, s.at = s.text[s.at:], len(s.text)
		return raw, false
	}
	raw = s.text[s.at : s.at+n-2]
	s.at += n - 1
	return raw, true
}

func (s *scanner) object(depth int) (out []member, ok bool) {
	for first := true; ; first = false {
		if s.take('}') {
			return out, true
		}
		if !first && !s.take(',') || !s.take('"') {
			return out, false
		}
		key, whole := s.str()
		if !whole || !s.take(':') {
			return out, false
		}
		v, whole := s.nested(depth)
		if out == nil {
			out = make([]member, 0, 4) // as most have
		}
		if len(out) < maxMembers {
			out = append(out, member{key, v})
		}
		if !whole {
			return out, false
		}
	}
}

func (s *scanner) array(depth int) (out []value, ok bool) {
	for first := true; ; first = false {
		if s.take(']') {
			return out, true
		}
		if !first && !s.take(',') {
			return out, false
		}
		v, whole := s.nested(depth)
		if len(out) < maxMembers {
			out = append(out, v)
		}
		if !whole {
			return out, false
		}
	}
}

// nested reads a value inside of another one; what lies too deep is passed over without being kept.
func (s *scanner) nested(depth int) (value, bool) {
	if depth < maxDepth {
		return s.value(depth)
	}
	s.space()
	n := jsonscan.ValueEnd(s.text[s.at:])
	s.at += n
	return value{}, n > 0
}
