package privacy

import (
	"cmp"
	"strings"

	"github.com/cmemd/cmemd/internal/jsonscan"
	"github.com/cmemd/cmemd/internal/toolinput"
)

// A value is one string, number or literal of a JSON text, with the name of the member that it stands in, or its list does.
type value struct {
	jsonscan.Token
	key    string
	outer  string // the name of the outermost member
	text   string // of a string, as it is written; empty for others
	listed bool   // it stands in a list
	named  int    // where the name stands that was read last
}

func (v value) string() string { return jsonscan.Unquote(v.text) }

// eachValue calls visit for each value, until it returns false, and reports whether the text is JSON to its end.
func eachValue(data string, visit func(value) bool) (whole bool) {
	s := jsonscan.Scanner[string]{Data: data}
	var keys []string // by depth, from 1
	named := 0
	for {
		t, ok := s.Next()
		if !ok {
			return s.Valid()
		}
		raw := data[t.Start:t.End]
		if t.Key {
			for len(keys) < t.Depth {
				keys = append(keys, "")
			}
			keys = keys[:t.Depth]
			keys[t.Depth-1], named = jsonscan.Unquote(raw), t.Start
			continue
		}
		v := value{Token: t, named: named, listed: t.Depth > len(keys) || t.Depth > 0 && keys[t.Depth-1] == ""}
		for i := min(t.Depth, len(keys)) - 1; i >= 0 && v.key == ""; i-- {
			v.key = keys[i]
		}
		if len(keys) > 0 && t.Depth > 0 {
			v.outer = keys[0]
		}
		if raw[0] == '"' {
			v.text = raw
		}
		if !visit(v) {
			return true
		}
	}
}

// nameUses is what stays where contents go, because it says which file they are of; mayNameUses is all that could name a file.
// What is moved from or to something may as well be a text that is replaced.
const (
	nameUses    = toolinput.File | toolinput.Path | toolinput.MaybeFile
	mayNameUses = nameUses | toolinput.Source | toolinput.Target
)

// cutContents replaces the contents in what a tool was given; false: it is no JSON object.
func cutContents(input string, f Finding) (out string, ok bool) {
	if len(input) == 0 || input[0] != '{' {
		return "", false
	}
	return replaceValues(input, func(v value) (string, bool) { return cutValue(v, toolinput.Of(v.key), f) })
}

// cutValue is what stands in the place of a value; false: itself does.
func cutValue(v value, use toolinput.Use, f Finding) (string, bool) {
	text := v.string()
	if mayBeJSON(text) && !use.Is(toolinput.Text) {
		cut, ok := replaceValues(text, func(in value) (string, bool) {
			in.key = cmp.Or(in.key, v.key)
			return cutValue(in, toolinput.Of(in.key), f)
		})
		if ok {
			return cut, true
		}
	}
	switch {
	case use.Is(nameUses | toolinput.Glob | toolinput.Folder):
		return f.Mark(), len(text) > maxPath || strings.IndexByte(text, '\n') >= 0
	case v.listed && use.Is(toolinput.Shell|toolinput.Args):
		cut := cutWord(text, f)
		return cut, cut != text
	case use.Is(toolinput.Shell):
		cut := cutCommand(text, f)
		return cut, cut != text
	}
	return f.Mark(), true
}

// replaceValues puts other strings in the place of those that by says; false: the text is not JSON. Where there are none it
// returns the text itself.
func replaceValues(body string, by func(value) (string, bool)) (replaced string, ok bool) {
	var out []byte
	from := 0
	whole := eachValue(body, func(v value) bool {
		if len(v.text) <= 2 {
			return true
		}
		if text, other := by(v); other {
			out = append(out, body[from:v.Start]...)
			out = jsonscan.AppendQuoted(out, text)
			from = v.End
		}
		return true
	})
	if from == 0 {
		return body, whole
	}
	return string(append(out, body[from:]...)), whole
}

// mayBeJSON reports whether a text begins as an object or a list does.
func mayBeJSON(text string) bool {
	for i := range len(text) {
		if c := text[i]; strings.IndexByte(" \t\r\n", c) < 0 {
			return c == '{' || c == '['
		}
	}
	return false
}
