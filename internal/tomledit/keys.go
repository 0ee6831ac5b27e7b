package tomledit

import (
	"bytes"
	"slices"
	"strings"
)

// Keys are those of a TOML text that belong to no table. It does not change and shares the text.
type Keys struct {
	data  []byte
	lines []Line
	end   int // of what belongs to no table
}

// Parse reads a TOML text. Errors are those of Lines.
func Parse(data []byte) (*Keys, error) {
	lines, err := Lines(data)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(lines, func(l Line) bool { return l.Table }); i >= 0 {
		return &Keys{data, lines[:i], lineStart(data, lines[i].key)}, nil
	}
	return &Keys{data, lines, len(data)}, nil
}

// valueStart is where the value begins whose key ends at from.
func valueStart(data []byte, from int) int {
	at := from + bytes.IndexByte(data[from:], '=') + 1
	return at + len(data[at:]) - len(bytes.TrimLeft(data[at:], " \t"))
}

// lineStart is where the line begins that at lies in.
func lineStart(data []byte, at int) int { return bytes.LastIndexByte(data[:at], '\n') + 1 }

// lineEnd is behind the line that at lies in.
func lineEnd(data []byte, at int) int {
	if n := bytes.IndexByte(data[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(data)
}

// With is the text with key set to value, which is written as TOML: in its place, or in a line of its own before the first
// table. The text that was parsed stays as it is.
func (k *Keys) With(key, value string) []byte {
	for _, l := range k.lines {
		if strings.Join(l.Key, ".") == key {
			return splice(k.data, valueStart(k.data, l.key), l.end, value)
		}
	}
	newline := newlineOf(k.data)
	line := key + " = " + value + newline
	if k.end > 0 && k.data[k.end-1] != '\n' {
		line = newline + line
	}
	return splice(k.data, k.end, k.end, line)
}

// Without is the text without the line of key, and what stands behind it there.
func (k *Keys) Without(key string) []byte {
	for _, l := range k.lines {
		if strings.Join(l.Key, ".") == key {
			return splice(k.data, lineStart(k.data, l.start), lineEnd(k.data, l.end), "")
		}
	}
	return k.data
}

func splice(data []byte, from, to int, text string) []byte {
	return bytes.Join([][]byte{data[:from], []byte(text), data[to:]}, nil)
}
