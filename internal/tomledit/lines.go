package tomledit

import (
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// A Line is where the header of a table, or a key with its value, begins.
type Line struct {
	Number int      // from 1
	Key    []string // its parts, behind those of the table that it stands in
	Path   string   // the same with dots between, and behind an array of tables the place in it: price[0].model
	Table  bool     // it is a header
	Value  any      // as go-toml decodes it

	array           bool // it is the header of one table of an array
	start, key, end int  // in bytes: of a key, behind the name, and behind the value; of a header behind its name alone
}

// Lines lists the headers and keys of a TOML text in their order. What is not TOML is an error of go-toml's, a *toml.DecodeError
// where it knows the line.
func Lines(data []byte) (lines []Line, err error) {
	w := walk{count: map[string]int{}}
	if err := toml.Unmarshal(data, &w.whole); err != nil { // finds what a parser of single expressions does not, too
		return nil, err
	}
	p := unstable.Parser{}
	p.Reset(data)
	table := Line{Value: w.whole}
	for p.NextExpression() {
		x := p.Expression()
		line := Line{Table: x.Kind != unstable.KeyValue, array: x.Kind == unstable.ArrayTable}
		for it := x.Key(); it.Next(); {
			if line.Number == 0 {
				line.Number = p.Shape(it.Node().Raw).Start.Line
			}
			line.Key = append(line.Key, string(it.Node().Data))
			line.key = int(it.Node().Raw.Offset + it.Node().Raw.Length)
		}
		line.start, line.end = int(x.Raw.Offset), int(x.Raw.Offset+x.Raw.Length)
		if line.array {
			w.begin(line.Key)
		}
		if line.Table {
			line.Path, line.Value = w.find("", w.whole, line.Key)
			table = line
		} else {
			line.Path, line.Value = w.find(table.Path, table.Value, line.Key)
			line.Key = append(table.Key[:len(table.Key):len(table.Key)], line.Key...)
		}
		lines = append(lines, line)
	}
	return lines, p.Error()
}

// A walk knows how far a text has come.
type walk struct {
	whole map[string]any
	count map[string]int // of the tables of an array that have begun, by its path
}

// begin counts a table of the array that key names.
func (w *walk) begin(key []string) {
	path, _ := w.find("", w.whole, key[:len(key)-1])
	w.count[joined(path, key[len(key)-1])]++
}

// find is what key names below a table, and its path. An array of tables stands for the last of them that has begun.
func (w *walk) find(path string, table any, key []string) (string, any) {
	for _, part := range key {
		inner, _ := table.(map[string]any)
		path, table = joined(path, part), inner[part]
		if list, ok := table.([]any); ok && w.count[path] > 0 {
			last := w.count[path] - 1
			path, table = fmt.Sprintf("%s[%d]", path, last), list[last]
		}
	}
	return path, table
}

func joined(path, part string) string { return strings.TrimPrefix(path+"."+part, ".") }
