package files

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/cmemd/cmemd/internal/jsonscan"
	"github.com/cmemd/cmemd/internal/toolinput"
)

// fileOf finds the file that a tool call names, by the shape of its input: the keys of the JSON object at the top. It
// reads no further than it must, so that a call that writes a large file costs no more than one that reads it, and it
// does without a whole document, because inputs are cut.
func fileOf(input string) (file string, modified bool) {
	s := scanner{rest: input}
	if !s.skip('{') {
		return "", false
	}
	var search, loose bool
	for {
		key, ok := s.text()
		if !ok || !s.skip(':') {
			break
		}
		switch use := toolinput.Of(key); {
		case use.Is(toolinput.File | toolinput.Path):
			if name, ok := s.text(); ok && file == "" {
				file, loose = name, use.Is(toolinput.Path) // a Path may be a folder
			}
		case use.Is(toolinput.Content):
			modified = true
		case use.Is(toolinput.Query): // what is named is where to look, not what was read
			search = true
		}
		if file != "" && modified || !s.value() || !s.skip(',') {
			break
		}
	}
	if search || loose && !modified && path.Ext(file) == "" {
		return "", false
	}
	return file, modified
}

// scanner walks over JSON text that may be cut off, without building anything. Package jsonscan reads whole texts.
type scanner struct{ rest string }

func (s *scanner) space() { s.rest = strings.TrimLeft(s.rest, " \t\r\n") }

// skip goes past c, and reports whether it was there.
func (s *scanner) skip(c byte) bool {
	s.space()
	if s.rest == "" || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// text reads a string. Anything else is left where it is.
func (s *scanner) text() (string, bool) {
	s.space()
	if s.rest == "" || s.rest[0] != '"' {
		return "", false
	}
	n := jsonscan.StringEnd(s.rest)
	if n == 0 {
		return "", false
	}
	raw := s.rest[:n]
	s.rest = s.rest[n:]
	if !strings.Contains(raw, `\`) {
		return raw[1 : n-1], true
	}
	var out string
	err := json.Unmarshal([]byte(raw), &out)
	return out, err == nil
}

// value goes past a value, or past what is left of one that text has read. It reports whether it ended.
func (s *scanner) value() bool {
	depth := 0
	for s.rest != "" {
		switch s.rest[0] {
		case '"':
			n := jsonscan.StringEnd(s.rest)
			if n == 0 {
				return false
			}
			s.rest = s.rest[n:]
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return true
			}
			depth--
		case ',':
			if depth == 0 {
				return true
			}
		}
		s.rest = s.rest[1:]
	}
	return false
}
