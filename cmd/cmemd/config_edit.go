package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// An edited is a settings file of which single keys are changed. Whatever else stands in it stays as it is.
type edited struct {
	data   []byte
	places []keyPlace
	end    int // of what belongs to no table
}

// A keyPlace is where a key stands, in bytes.
type keyPlace struct {
	key               string
	start, value, end int // of the key, of its value, and behind it
}

// edit reads a settings file. What is not TOML is an error as parseTOML returns it.
func edit(data []byte) (*edited, error) {
	if _, err := parseTOML(data); err != nil {
		return nil, err
	}
	e := &edited{data: data, end: len(data)}
	p := unstable.Parser{}
	p.Reset(data)
	for p.NextExpression() {
		x := p.Expression()
		if x.Kind != unstable.KeyValue {
			e.end = lineStart(data, keyEnd(x))
			break
		}
		key, _ := dotted(&p, x)
		start := int(x.Raw.Offset)
		e.places = append(e.places, keyPlace{key: key, start: start, value: valueStart(data, keyEnd(x)), end: start + int(x.Raw.Length)})
	}
	return e, p.Error()
}

// keyEnd is where the key of an expression ends.
func keyEnd(x *unstable.Node) (end int) {
	for it := x.Key(); it.Next(); {
		raw := it.Node().Raw
		end = int(raw.Offset + raw.Length)
	}
	return end
}

// valueStart is where the value begins whose key ends at from.
func valueStart(data []byte, from int) int {
	at := from + bytes.IndexByte(data[from:], '=') + 1
	return at + len(data[at:]) - len(bytes.TrimLeft(data[at:], " \t"))
}

// lineStart is where the line begins that at lies in.
func lineStart(data []byte, at int) int { return bytes.LastIndexByte(data[:at], '\n') + 1 }

// with is the file with key set to value, as TOML writes it: in its place, or in a line of its own before the first table.
func (e *edited) with(key, value string) []byte {
	for _, p := range e.places {
		if p.key == key {
			return splice(e.data, p.value, p.end, value)
		}
	}
	newline := "\n"
	if bytes.Contains(e.data, []byte("\r\n")) {
		newline = "\r\n"
	}
	line := key + " = " + value + newline
	if e.end > 0 && e.data[e.end-1] != '\n' {
		line = newline + line
	}
	return splice(e.data, e.end, e.end, line)
}

// without is the file without the line of key, and what stands behind it there.
func (e *edited) without(key string) []byte {
	for _, p := range e.places {
		if p.key != key {
			continue
		}
		end := len(e.data)
		if n := bytes.IndexByte(e.data[p.end:], '\n'); n >= 0 {
			end = p.end + n + 1
		}
		return splice(e.data, lineStart(e.data, p.start), end, "")
	}
	return e.data
}

func splice(data []byte, from, to int, text string) []byte {
	return bytes.Join([][]byte{data[:from], []byte(text), data[to:]}, nil)
}

// toml is a value of s, which it allows, as TOML writes it.
func (s setting) toml(value string) string {
	var c config
	s.set(&c, value)
	switch s.kind {
	case kindNumber, kindMoney:
		return s.get(&c)
	case kindList:
		var quoted []string
		for _, text := range splitList(value) {
			quoted = append(quoted, tomlQuote(text))
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	return tomlQuote(value)
}

// tomlQuote is text as a string of TOML.
func tomlQuote(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) {
		return `"` + text + `"`
	}
	line, err := toml.Marshal(map[string]string{"v": text})
	if err != nil {
		panic(fmt.Sprintf("a string cannot be written: %v", err)) // there is none
	}
	return strings.TrimSpace(strings.TrimPrefix(string(line), "v ="))
}
