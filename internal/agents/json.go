package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// checkJSON returns a *SyntaxError unless data is one JSON value. What follows in this file relies on it.
func checkJSON(data []byte) error {
	if json.Valid(data) {
		return nil
	}
	var raw json.RawMessage
	err := json.Unmarshal(data, &raw)
	out := &SyntaxError{Offset: int64(len(data)), Err: err}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		out.Offset = syntax.Offset
	}
	return out
}

func isObject(raw []byte) bool { return kindOf(raw) == '{' }

// kindOf is the first byte of a value: { [ " and others; 0 for none.
func kindOf(raw []byte) byte {
	i := space(raw, 0)
	if i == len(raw) {
		return 0
	}
	return raw[i]
}

// members yields the names and raw values of the object in raw, in order; none if it is no object.
func members(raw []byte, yield func(key string, value []byte) bool) {
	i := space(raw, 0)
	if i == len(raw) || raw[i] != '{' {
		return
	}
	i = space(raw, i+1)
	for raw[i] != '}' {
		end := stringEnd(raw, i)
		key := stringOf(raw[i:end])
		i = space(raw, space(raw, end)+1)
		end = valueEnd(raw, i)
		if !yield(key, raw[i:end]) {
			return
		}
		if i = space(raw, end); raw[i] == ',' {
			i = space(raw, i+1)
		}
	}
}

// elements yields the raw values of the array in raw, in order; none if it is no array.
func elements(raw []byte, yield func(value []byte) bool) {
	i := space(raw, 0)
	if i == len(raw) || raw[i] != '[' {
		return
	}
	i = space(raw, i+1)
	for raw[i] != ']' {
		end := valueEnd(raw, i)
		if !yield(raw[i:end]) {
			return
		}
		if i = space(raw, end); raw[i] == ',' {
			i = space(raw, i+1)
		}
	}
}

// stringOf is the string that raw holds, and "" where it holds something else. Its UTF-8 is valid.
func stringOf(raw []byte) string {
	if kindOf(raw) != '"' {
		return ""
	}
	i := space(raw, 0)
	inner := raw[i+1 : stringEnd(raw, i)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	var s string
	_ = json.Unmarshal(raw, &s) // checkJSON has passed it
	return s
}

// rawMember returns the raw value of the last member called key of the object in raw, or nil.
func rawMember(raw []byte, key string) (value []byte) {
	members(raw, func(k string, v []byte) bool {
		if k == key {
			value = v
		}
		return true
	})
	return value
}

// member returns the string that the member called key of the object in raw holds, or "".
func member(raw []byte, key string) string { return stringOf(rawMember(raw, key)) }

func isTrue(raw []byte) bool { return string(raw) == "true" }

func space(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\t' || raw[i] == '\r') {
		i++
	}
	return i
}

// stringEnd returns the index behind the closing quote of the string that starts at raw[i].
func stringEnd(raw []byte, i int) int {
	for i++; ; i++ {
		i += bytes.IndexByte(raw[i:], '"')
		slashes := 0
		for raw[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
}

// valueEnd returns the index behind the value that starts at raw[i].
func valueEnd(raw []byte, i int) int {
	depth := 0
	for ; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			if i = stringEnd(raw, i) - 1; depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
			if depth < 0 {
				return i
			}
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

// A cleaner rewrites a JSON text: without white space between tokens, each string clean, blobs and copies left out.
type cleaner struct {
	src   []byte
	out   []byte
	patch bool   // the outermost object shows a change to a file as a patch
	input []byte // what the tool was given; strings that repeat it beside a patch are left out
}

// cleanJSON rewrites the JSON text raw, an output of the tool call whose input is given, or an input itself. The result
// is JSON; names and order of its members stay. Beside a structuredPatch the whole file before the change
// (originalFile), and what the input says already, are left out.
func cleanJSON(raw, input []byte) []byte {
	c := cleaner{src: raw, out: make([]byte, 0, len(raw)), input: input}
	c.patch = bytes.Contains(raw, []byte(`"structuredPatch"`))
	c.value(space(raw, 0), nil, 0)
	return c.out
}

// value copies the value that starts at src[i] and returns the index behind it.
func (c *cleaner) value(i int, key []byte, depth int) int {
	switch c.src[i] {
	case '{':
		return c.object(i, depth+1)
	case '[':
		return c.array(i, key, depth+1)
	case '"':
		end := stringEnd(c.src, i)
		c.str(c.src[i:end], key)
		return end
	}
	end := valueEnd(c.src, i)
	c.out = append(c.out, c.src[i:end]...)
	return end
}

func (c *cleaner) object(i, depth int) int {
	c.out = append(c.out, '{')
	i = space(c.src, i+1)
	for first := true; c.src[i] != '}'; {
		end := stringEnd(c.src, i)
		key := c.src[i:end]
		i = space(c.src, space(c.src, end)+1)
		if c.patch && depth == 1 && c.drops(key, i) {
			i = valueEnd(c.src, i)
		} else {
			if !first {
				c.out = append(c.out, ',')
			}
			first = false
			c.str(key, nil)
			c.out = append(c.out, ':')
			i = c.value(i, key, depth)
		}
		if i = space(c.src, i); c.src[i] == ',' {
			i = space(c.src, i+1)
		}
	}
	c.out = append(c.out, '}')
	return i + 1
}

func (c *cleaner) array(i int, key []byte, depth int) int {
	c.out = append(c.out, '[')
	i = space(c.src, i+1)
	for c.src[i] != ']' {
		i = space(c.src, c.value(i, key, depth))
		if c.src[i] == ',' {
			c.out = append(c.out, ',')
			i = space(c.src, i+1)
		}
	}
	c.out = append(c.out, ']')
	return i + 1
}

// drops reports whether the member called key, whose value is at src[i], is left out beside a patch.
func (c *cleaner) drops(key []byte, i int) bool {
	switch string(key) {
	case `"originalFile"`:
		return true
	case `"content"`, `"oldString"`, `"newString"`:
		return c.src[i] == '"' && bytes.Contains(c.input, c.src[i:stringEnd(c.src, i)])
	}
	return false
}

// str copies the string whose raw form is given, and the raw form of the key that it belongs to.
func (c *cleaner) str(raw, key []byte) {
	if isCleanJSON(raw) {
		c.out = append(c.out, raw...)
		return
	}
	s := stringOf(raw)
	if isData(string(key), s) {
		s = fmt.Sprintf(blobLeftOut, len(s))
	}
	s, _ = clean(s)
	c.out = appendQuoted(c.out, s)
}

// isCleanJSON reports that the raw string holds nothing for clean to change, and no escapes but the shortest.
func isCleanJSON(raw []byte) bool {
	run := 0
	for i := 0; i < len(raw); i++ {
		ch := raw[i]
		if isBase64(ch) {
			if run++; run >= minRun {
				return false
			}
			continue
		}
		run = 0
		if ch == '\\' {
			i++
			if strings.IndexByte(`"\nt`, raw[i]) < 0 {
				return false
			}
			continue
		}
		if ch == '<' || ch >= 0x7f {
			return false
		}
	}
	return !bytes.Contains(raw, []byte("cmemd-")) // clean looks closer: see hasOwn
}

// appendQuoted appends the clean text s as a JSON string.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
