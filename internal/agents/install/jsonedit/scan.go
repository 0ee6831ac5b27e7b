package jsonedit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

var (
	// ErrSyntax is wrapped by Parse for what is not JSON, with the line where that shows.
	ErrSyntax = errors.New("is not JSON")

	// ErrTwice is returned for an object that has a key twice.
	ErrTwice = errors.New("stands there twice")

	// ErrShape is returned for a path on which something other than an object or array stands.
	ErrShape = errors.New("has another shape")
)

// maxDepth bounds how deep values may be nested; no settings file comes near it.
const maxDepth = 200

// kind is what a node is.
type kind byte

const (
	kindObject  kind = '{'
	kindArray   kind = '['
	kindLiteral kind = 'v' // string, number, true, false, null
)

// A node is a value in a text: where it stands, and what stands in it.
type node struct {
	kind       kind
	start, end int    // of the value
	items      []item // of an object or array
}

// An item is a member of an object or an element of an array.
type item struct {
	key   string // of a member
	start int    // of the member's key, or of the element
	value node
	comma int // where the comma behind it stands; -1: there is none
}

// scanner reads a text.
type scanner struct {
	text []byte
	at   int
}

func (s *scanner) fail(what string) error {
	line := 1 + bytes.Count(s.text[:min(s.at, len(s.text))], []byte("\n"))
	return fmt.Errorf("line %d: %s: %w", line, what, ErrSyntax)
}

// skip passes over white space and comments.
func (s *scanner) skip() error {
	for s.at < len(s.text) {
		rest := s.text[s.at:]
		switch {
		case isSpace(rest[0]):
			s.at++
		case bytes.HasPrefix(rest, []byte("//")):
			n := bytes.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			s.at += n
		case bytes.HasPrefix(rest, []byte("/*")):
			n := bytes.Index(rest[2:], []byte("*/"))
			if n < 0 {
				return s.fail("a comment is not closed")
			}
			s.at += n + 4
		default:
			return nil
		}
	}
	return nil
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

// value reads one value and leaves the scanner behind it.
func (s *scanner) value(depth int) (node, error) {
	switch {
	case depth > maxDepth:
		return node{}, s.fail("nested too deep")
	case s.at == len(s.text):
		return node{}, s.fail("a value is missing")
	case s.text[s.at] == '{':
		return s.container(kindObject, '}', depth)
	case s.text[s.at] == '[':
		return s.container(kindArray, ']', depth)
	case s.text[s.at] == '"':
		start := s.at
		_, err := s.str()
		return node{kind: kindLiteral, start: start, end: s.at}, err
	}
	return s.word()
}

// container reads an object or array up to its closing bracket.
func (s *scanner) container(k kind, closing byte, depth int) (n node, err error) {
	n = node{kind: k, start: s.at}
	s.at++
	for {
		if err := s.skip(); err != nil {
			return n, err
		}
		if s.at < len(s.text) && s.text[s.at] == closing {
			s.at++
			n.end = s.at
			return n, nil
		}
		if len(n.items) > 0 && n.items[len(n.items)-1].comma < 0 {
			return n, s.fail("a comma or " + string(closing) + " is missing")
		}
		it, err := s.item(k, depth)
		if err != nil {
			return n, err
		}
		n.items = append(n.items, it)
	}
}

// item reads one member or element, and the comma behind it.
func (s *scanner) item(k kind, depth int) (it item, err error) {
	it = item{start: s.at, comma: -1}
	if k == kindObject {
		if it.key, err = s.key(); err != nil {
			return it, err
		}
	}
	if it.value, err = s.value(depth + 1); err != nil {
		return it, err
	}
	if err = s.skip(); err != nil {
		return it, err
	}
	if s.at < len(s.text) && s.text[s.at] == ',' {
		it.comma = s.at
		s.at++
	}
	return it, nil
}

// key reads a member's key and its colon.
func (s *scanner) key() (key string, err error) {
	if s.at == len(s.text) || s.text[s.at] != '"' {
		return "", s.fail("a key is missing")
	}
	if key, err = s.str(); err != nil {
		return "", err
	}
	if err = s.skip(); err != nil {
		return "", err
	}
	if s.at == len(s.text) || s.text[s.at] != ':' {
		return "", s.fail("a colon is missing")
	}
	s.at++
	return key, s.skip()
}

// str reads a string and leaves the scanner behind it.
func (s *scanner) str() (string, error) {
	for i := s.at + 1; i < len(s.text) && s.text[i] >= ' '; i++ {
		switch s.text[i] {
		case '\\':
			i++
		case '"':
			raw := s.text[s.at : i+1]
			var text string
			if json.Unmarshal(raw, &text) != nil || !utf8.Valid(raw) {
				return "", s.fail("a string is broken")
			}
			s.at = i + 1
			return text, nil
		}
	}
	return "", s.fail("a string is not closed")
}

// word reads a number, true, false or null.
func (s *scanner) word() (node, error) {
	end := s.at
	for end < len(s.text) && !isSpace(s.text[end]) && bytes.IndexByte([]byte(",:[]{}\"/"), s.text[end]) < 0 {
		end++
	}
	raw := s.text[s.at:end]
	if !json.Valid(raw) {
		return node{}, s.fail("a value is missing or broken")
	}
	n := node{kind: kindLiteral, start: s.at, end: end}
	s.at = end
	return n, nil
}
