package tomledit

import (
	"bytes"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Keys are those of a TOML text that belong to no table. It does not change and shares the text.
type Keys struct {
	data   []byte
	places []keyPlace
	end    int // of what belongs to no table
}

// A keyPlace is where a key stands, in bytes.
type keyPlace struct {
	key               string
	start, value, end int // of the key, of its value, and behind it
}

// Parse reads a TOML text. What is not TOML is an error of go-toml's, a *toml.DecodeError where it knows the line.
func Parse(data []byte) (*Keys, error) {
	var whole map[string]any // finds what a parser of single expressions does not: keys given twice, bad escapes
	if err := toml.Unmarshal(data, &whole); err != nil {
		return nil, err
	}
	k := &Keys{data: data, end: len(data)}
	p := unstable.Parser{}
	p.Reset(data)
	for p.NextExpression() {
		x := p.Expression()
		parts, end := keyOf(x)
		if x.Kind != unstable.KeyValue {
			k.end = lineStart(data, end)
			break
		}
		start := int(x.Raw.Offset)
		k.places = append(k.places, keyPlace{
			key: strings.Join(parts, "."), start: start, value: valueStart(data, end), end: start + int(x.Raw.Length),
		})
	}
	return k, p.Error()
}

// keyOf is the key of a table or of a key with its value, and where it ends.
func keyOf(x *unstable.Node) (parts []string, end int) {
	if x.Kind != unstable.Table && x.Kind != unstable.ArrayTable && x.Kind != unstable.KeyValue {
		return nil, 0
	}
	for it := x.Key(); it.Next(); {
		parts = append(parts, string(it.Node().Data))
		end = int(it.Node().Raw.Offset + it.Node().Raw.Length)
	}
	return parts, end
}

// valueStart is where the value begins whose key ends at from.
func valueStart(data []byte, from int) int {
	at := from + bytes.IndexByte(data[from:], '=') + 1
	return at + len(data[at:]) - len(bytes.TrimLeft(data[at:], " \t"))
}

// lineStart is where the line begins that at lies in.
func lineStart(data []byte, at int) int { return bytes.LastIndexByte(data[:at], '\n') + 1 }

// With is the text with key set to value, which is written as TOML: in its place, or in a line of its own before the first
// table. The text that was parsed stays as it is.
func (k *Keys) With(key, value string) []byte {
	for _, p := range k.places {
		if p.key == key {
			return splice(k.data, p.value, p.end, value)
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
	for _, p := range k.places {
		if p.key != key {
			continue
		}
		end := len(k.data)
		if n := bytes.IndexByte(k.data[p.end:], '\n'); n >= 0 {
			end = p.end + n + 1
		}
		return splice(k.data, lineStart(k.data, p.start), end, "")
	}
	return k.data
}

func splice(data []byte, from, to int, text string) []byte {
	return bytes.Join([][]byte{data[:from], []byte(text), data[to:]}, nil)
}
