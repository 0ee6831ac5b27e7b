package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/internal/clip"
	"github.com/cmemd/cmemd/internal/jsonscan"
)

// checkJSON returns a *SyntaxError unless data is one JSON value. What follows in this file relies on it.
func checkJSON(data []byte) error {
	if jsonscan.Valid(data) {
		return nil
	}
	var raw json.RawMessage
	err := json.Unmarshal(data, &raw)
	out := &SyntaxError{Offset: int64(len(data)), Err: err}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		out.Offset = syntax.Offset
	}
	return out
}

func isObject(raw []byte) bool { return kindOf(raw) == '{' }

// kindOf is the first byte of a value: { [ " and others; 0 for none.
func kindOf(raw []byte) byte {
	i := jsonscan.Space(raw, 0)
	if i == len(raw) {
		return 0
	}
	return raw[i]
}

// stringOf is the string that raw holds, and "" where it holds something else. Its UTF-8 is valid.
func stringOf(raw []byte) string {
	if kindOf(raw) != '"' {
		return ""
	}
	i := jsonscan.Space(raw, 0)
	return jsonscan.Text(raw[i : i+jsonscan.StringEnd(raw[i:])])
}

// rawMember returns the raw value of the last member called key of the object in raw, or nil.
func rawMember(raw []byte, key string) (value []byte) {
	jsonscan.Members(raw, func(k, v []byte) bool {
		if string(k) == key {
			value = v
		}
		return true
	})
	return value
}

// member returns the string that the member called key of the object in raw holds, or "".
func member(raw []byte, key string) string { return stringOf(rawMember(raw, key)) }

// members are those of a JSON object, in their order. Values alias it.
type members []jsonMember

type jsonMember struct{ name, value []byte }

// appendMembers appends the members of the object in raw.
func appendMembers(all members, raw []byte) members {
	jsonscan.Members(raw, func(name, value []byte) bool {
		all = append(all, jsonMember{name, value})
		return true
	})
	return all
}

// raw is the value of the last member that has one of some names, or nil.
func (all members) raw(names ...string) []byte {
	for i := len(all) - 1; i >= 0; i-- {
		for _, name := range names {
			if string(all[i].name) == name {
				return all[i].value
			}
		}
	}
	return nil
}

// text is the string in that member, as it stands there.
func (all members) text(names ...string) string { return stringOf(all.raw(names...)) }

// name is the id or name in that member: see cleanName.
func (all members) name(names ...string) string { return cleanName(all.text(names...), maxName) }

// id is the string in that member without white space around it; checkIdentity bounds it.
func (all members) id(names ...string) string { return strings.TrimSpace(all.text(names...)) }

// flag reports whether that member is true.
func (all members) flag(name string) bool { return isTrue(all.raw(name)) }

func isTrue(raw []byte) bool { return string(raw) == "true" }

// milliseconds reads a duration; what is none is 0.
func milliseconds(raw []byte) int64 {
	if !isNumber(raw) {
		return 0 // an error would be allocated
	}
	n, err := json.Number(raw).Float64()
	if err != nil || n <= 0 || n >= 1e15 {
		return 0
	}
	return int64(n)
}

// isNonZero reports whether a JSON value is a number that is not 0: the exit code of a failure.
func isNonZero(raw []byte) bool {
	n, err := json.Number(raw).Float64()
	return err == nil && n != 0
}

// commandInput is the input of a shell's tool: a JSON object whose one member is the command, value.
func commandInput(value []byte) []byte {
	return slices.Concat([]byte(`{"command":`), value, []byte{'}'})
}

// quoted is s as a JSON string.
func quoted(s string) []byte {
	raw, _ := json.Marshal(s) // strings always encode
	return raw
}

// unquoted is the JSON text that a string holds, as some agents pass JSON on, else raw itself.
func unquoted(raw []byte) []byte {
	if kindOf(raw) != '"' {
		return raw
	}
	inner := []byte(strings.TrimSpace(stringOf(raw)))
	if k := kindOf(inner); (k == '{' || k == '[') && jsonscan.Valid(inner) {
		return inner
	}
	return raw
}

// A cleaner rewrites a JSON text: without white space between tokens, each string clean, blobs and copies left out.
type cleaner struct {
	src   []byte
	out   strings.Builder
	patch bool   // the outermost object shows a change to a file as a patch
	input []byte // what the tool was given; strings that repeat it beside a patch are left out
}

// cleanJSON rewrites the JSON text raw, an output of the tool call whose input is given, or an input itself. The result
// is JSON; names and order of its members stay. Beside a structuredPatch the whole file before the change
// (originalFile), and what the input says already, are left out.
func cleanJSON(raw, input []byte) string {
	c := cleaner{src: raw, input: input}
	c.out.Grow(len(raw))
	c.patch = bytes.Contains(raw, []byte(`"structuredPatch"`))
	c.value(jsonscan.Space(raw, 0), nil, 0)
	if c.out.Len() < len(raw)/2 { // what is kept of it would hold all of its memory
		return strings.Clone(c.out.String())
	}
	return c.out.String()
}

// value copies the value that starts at src[i] and returns the index behind it.
func (c *cleaner) value(i int, key []byte, depth int) int {
	switch c.src[i] {
	case '{':
		return c.object(i, depth+1)
	case '[':
		return c.array(i, key, depth+1)
	case '"':
		end := i + jsonscan.StringEnd(c.src[i:])
		c.str(c.src[i:end], key)
		return end
	}
	end := i + jsonscan.ValueEnd(c.src[i:])
	c.out.Write(c.src[i:end])
	return end
}

func (c *cleaner) object(i, depth int) int {
	c.out.WriteByte('{')
	i = jsonscan.Space(c.src, i+1)
	for first := true; c.src[i] != '}'; {
		end := i + jsonscan.StringEnd(c.src[i:])
		key := c.src[i:end]
		i = jsonscan.Space(c.src, jsonscan.Space(c.src, end)+1)
		if c.patch && depth == 1 && c.drops(key, i) {
			i += jsonscan.ValueEnd(c.src[i:])
		} else {
			if !first {
				c.out.WriteByte(',')
			}
			first = false
			c.str(key, nil)
			c.out.WriteByte(':')
			i = c.value(i, key, depth)
		}
		if i = jsonscan.Space(c.src, i); c.src[i] == ',' {
			i = jsonscan.Space(c.src, i+1)
		}
	}
	c.out.WriteByte('}')
	return i + 1
}

func (c *cleaner) array(i int, key []byte, depth int) int {
	c.out.WriteByte('[')
	i = jsonscan.Space(c.src, i+1)
	for c.src[i] != ']' {
		i = jsonscan.Space(c.src, c.value(i, key, depth))
		if c.src[i] == ',' {
			c.out.WriteByte(',')
			i = jsonscan.Space(c.src, i+1)
		}
	}
	c.out.WriteByte(']')
	return i + 1
}

// drops reports whether the member called key, whose value is at src[i], is left out beside a patch.
func (c *cleaner) drops(key []byte, i int) bool {
	switch string(key) {
	case `"originalFile"`:
		return true
	case `"content"`, `"oldString"`, `"newString"`:
		return c.src[i] == '"' && bytes.Contains(c.input, c.src[i:i+jsonscan.StringEnd(c.src[i:])])
	}
	return false
}

// str copies the string whose raw form is given, and the raw form of the key that it belongs to.
func (c *cleaner) str(raw, key []byte) {
	if isCleanJSON(raw) {
		c.out.Write(raw)
		return
	}
	s := stringOf(raw)
	if isData(string(key), s) {
		s = fmt.Sprintf(clip.Base64LeftOut, len(s))
	}
	s, _ = clean(s)
	c.out.Write(jsonscan.AppendQuoted(nil, s))
}

// isCleanJSON reports that the raw string holds nothing for clean to change, and no escapes but the shortest.
func isCleanJSON(raw []byte) bool {
	run := 0
	for i := 0; i < len(raw); i++ {
		ch := raw[i]
		if clip.IsBase64(ch) {
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
	return !bytes.Contains(raw, []byte("cmemd-")) // clean looks closer: see hasNoticeOrFence
}
