package jsonedit

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSet(t *testing.T) {
	t.Parallel()
	hook := Object{{"command", "x"}, {"args", []string{"a", "b"}}, {"timeout", 10}}
	for name, c := range map[string]struct {
		in, want string
		path     []string
		value    any
	}{
		"nothing":              {"", "{\n  \"a\": 1\n}\n", []string{"a"}, 1},
		"a mark":               {"\ufeff", "\ufeff{\n  \"a\": 1\n}\n", []string{"a"}, 1},
		"a comment only":       {"// mine", "// mine\n{\n  \"a\": 1\n}\n", []string{"a"}, 1},
		"empty":                {"{}", "{\n  \"a\": 1\n}", []string{"a"}, 1},
		"empty, of lines":      {"{\n}\n", "{\n  \"a\": 1\n}\n", []string{"a"}, 1},
		"empty, a comment":     {"{ // here\n}", "{ // here\n  \"a\": 1\n}", []string{"a"}, 1},
		"on one line":          {`{"a":1}`, `{"a":1,"h":{"command":"x","args":["a","b"],"timeout":10}}`, []string{"h"}, hook},
		"on one line, roomy":   {`{"a": 1}`, `{"a": 1, "h": {"command": "x", "args": ["a", "b"], "timeout": 10}}`, []string{"h"}, hook},
		"two blanks":           {"{\n  \"a\": 1\n}", "{\n  \"a\": 1,\n  \"h\": {\n    \"command\": \"x\",\n    \"args\": [\"a\", \"b\"],\n    \"timeout\": 10\n  }\n}", []string{"h"}, hook},
		"tabs":                 {"{\n\t\"a\": {\n\t\t\"b\": 1\n\t}\n}\n", "{\n\t\"a\": {\n\t\t\"b\": 1,\n\t\t\"c\": {\n\t\t\t\"d\": true\n\t\t}\n\t}\n}\n", []string{"a", "c", "d"}, true},
		"CRLF":                 {"{\r\n    \"a\": 1\r\n}\r\n", "{\r\n    \"a\": 1,\r\n    \"b\": 2\r\n}\r\n", []string{"b"}, 2},
		"a last comma":         {"{\n  \"a\": 1,\n}", "{\n  \"a\": 1,\n  \"b\": 2,\n}", []string{"b"}, 2},
		"a comment at last":    {"{\n  \"a\": 1 // one, /* and */ more\n}", "{\n  \"a\": 1, // one, /* and */ more\n  \"b\": 2\n}", []string{"b"}, 2},
		"on one line, comment": {"{\"a\": 1 // one */\n}", "{\"a\": 1, // one */\n\"b\": 2\n}", []string{"b"}, 2},
		"a value there":        {"{\n  \"a\": [1], // n\n  \"b\": 2\n}", "{\n  \"a\": \"<&>\", // n\n  \"b\": 2\n}", []string{"a"}, "<&>"},
		"an empty one there":   {"{\n  \"a\": {},\n  \"b\": 2\n}", "{\n  \"a\": {\n    \"c\": 3\n  },\n  \"b\": 2\n}", []string{"a", "c"}, 3},
		"a key in escapes":     {`{"\u0061": 1}`, `{"\u0061": 2}`, []string{"a"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := mustParse(t, c.in)
			d.Set(c.value, c.path...)
			if diff := cmp.Diff(c.want, textOf(t, d)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestAppend(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"nothing":     {"", "{\n  \"h\": {\n    \"e\": [\n      {\n        \"c\": \"x\"\n      }\n    ]\n  }\n}\n"},
		"no array":    {"{\n  \"h\": {\n    \"f\": 1\n  }\n}", "{\n  \"h\": {\n    \"f\": 1,\n    \"e\": [\n      {\n        \"c\": \"x\"\n      }\n    ]\n  }\n}"},
		"empty":       {"{\n  \"h\": {\n    \"e\": []\n  }\n}", "{\n  \"h\": {\n    \"e\": [\n      {\n        \"c\": \"x\"\n      }\n    ]\n  }\n}"},
		"on one line": {"{\n  \"h\": {\n    \"e\": [{\"a\": 1}]\n  }\n}", "{\n  \"h\": {\n    \"e\": [{\"a\": 1}, {\"c\": \"x\"}]\n  }\n}"},
		"of lines":    {"{\n  \"h\": {\n    \"e\": [\n      1 /* one */\n    ]\n  }\n}", "{\n  \"h\": {\n    \"e\": [\n      1, /* one */\n      {\n        \"c\": \"x\"\n      }\n    ]\n  }\n}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := mustParse(t, c.in)
			d.Append(Object{{"c", "x"}}, "h", "e")
			if diff := cmp.Diff(c.want, textOf(t, d)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in, want string
		path     []any
	}{
		"the only one":       {"{\n  \"x\": 1\n}\n", "{}\n", []any{"x"}},
		"the first":          {"{\n  \"x\": 1,\n  \"b\": 2\n}", "{\n  \"b\": 2\n}", []any{"x"}},
		"in the middle":      {"{\n  \"a\": 1,\n  \"x\": {\n    \"y\": 1\n  },\n  \"b\": 2\n}", "{\n  \"a\": 1,\n  \"b\": 2\n}", []any{"x"}},
		"the last":           {"{\n  \"a\": 1, // one\n  \"x\": 1\n}", "{\n  \"a\": 1 // one\n}", []any{"x"}},
		"the last, a comma":  {"{\n  \"a\": 1,\n  \"x\": 1,\n}", "{\n  \"a\": 1,\n}", []any{"x"}},
		"on one line, first": {`{"x": 1, "b": 2}`, `{"b": 2}`, []any{"x"}},
		"on one line, last":  {`{"a":1,"x":2}`, `{"a":1}`, []any{"x"}},
		"on one line, inner": {`{"a": 1, "x": 2, "b": 3}`, `{"a": 1, "b": 3}`, []any{"x"}},
		"an element":         {`{"a": [1, {"x": 1}, 3]}`, `{"a": [1, 3]}`, []any{"a", 1}},
		"below an element":   {`{"a": [{"x": 1, "y": 2}]}`, `{"a": [{"y": 2}]}`, []any{"a", 0, "x"}},
		"a comment stays":    {"{\n  // why\n  \"x\": 1\n}", "{\n  // why\n}", []any{"x"}},
		"nothing there":      {`{"a": 1}`, `{"a": 1}`, []any{"b", "c"}},
		"no such element":    {`{"a": [1]}`, `{"a": [1]}`, []any{"a", 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := mustParse(t, c.in)
			d.Remove(c.path...)
			if diff := cmp.Diff(c.want, textOf(t, d)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestLike(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in, old, want string
		path          []any
	}{
		"an object":           {`{"a": {}, "b": 1}`, "{\"a\": {\n}}", "{\"a\": {\n}, \"b\": 1}", []any{"a"}},
		"an array":            {`{"a": {"b": [ ]}}`, "{\"a\": {\"b\": [\t]}}", "{\"a\": {\"b\": [\t]}}", []any{"a", "b"}},
		"the whole":           {"// mine\n{}\n", "{ }", "// mine\n{ }\n", nil},
		"it holds something":  {`{"a": {"b": 1}}`, `{"a": { }}`, `{"a": {"b": 1}}`, []any{"a"}},
		"it held something":   {`{"a": {}}`, `{"a": {"b": 1}}`, `{"a": {}}`, []any{"a"}},
		"a comment is in it":  {`{"a": {/**/}}`, `{"a": { }}`, `{"a": {/**/}}`, []any{"a"}},
		"a comment was in it": {`{"a": {}}`, `{"a": {/**/}}`, `{"a": {}}`, []any{"a"}},
		"another kind":        {`{"a": {}}`, `{"a": [ ]}`, `{"a": {}}`, []any{"a"}},
		"a value":             {`{"a": 1}`, `{"a": 2}`, `{"a": 1}`, []any{"a"}},
		"nothing there":       {`{}`, `{"a": { }}`, `{}`, []any{"a"}},
		"nothing was there":   {`{"a": {}}`, ``, `{"a": {}}`, []any{"a"}},
	} {
		d := mustParse(t, c.in)
		d.RestoreSpace(mustParse(t, c.old), c.path...)
		if got := textOf(t, d); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{`:                               "line 1 is not JSON: unexpected end of JSON input",
		"{\n\"a\" 1}":                     "line 2 is not JSON: invalid character '1' after object key",
		`{"a": 1 "b": 2}`:                 "line 1 is not JSON: a comma or } is missing",
		"{ // a }\n\"a\": /*\n*/ [1,,2]}": "line 3 is not JSON: invalid character ',' looking for beginning of value",
		`{"a": 01}`:                       "line 1 is not JSON: a comma or } is missing",
		"{\"a\": \"b\n\"}":                "line 1 is not JSON: invalid character '\\n' in string literal",
		"{\n\"a\": \"\xff\"}":             "line 2 is not JSON: a string is broken",
		`{"a": "b`:                        "line 1 is not JSON: unexpected end of JSON input",
		`{} {}`:                           "line 1 is not JSON: invalid character '{' after top-level value",
		`{} /* x`:                         "line 1 is not JSON: invalid character '/' after top-level value",
		`[]`:                              "has another shape: it is no object",
		`{,}`:                             "line 1 is not JSON: invalid character ',' looking for beginning of object key string",
		`{"a": [,]}`:                      "line 1 is not JSON: invalid character ',' looking for beginning of value",
		`{"a": 1,,}`:                      "line 1 is not JSON: invalid character '}' looking for beginning of object key string",
		`{"a":,}`:                         "line 1 is not JSON: invalid character '}' looking for beginning of value",
		" \ufeff{}":                       "line 1 is not JSON: invalid character 'ï' looking for beginning of value",
		"\v":                              "line 1 is not JSON: invalid character '\\v' looking for beginning of value",
		`,{}`:                             "line 1 is not JSON: invalid character ',' looking for beginning of value",
		`{},`:                             "line 1 is not JSON: invalid character ',' after top-level value",
		strings.Repeat(`{"a":`, 20_000):   "line 1 is not JSON: invalid character '{' exceeded max depth",
	} {
		if err := Parse([]byte(in)).Err(); err == nil || err.Error() != want {
			t.Errorf("%.40q: got %v, want %s", in, err, want)
		}
	}
}

func TestEditsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   string
		do   func(*Document)
		want error
	}{
		"through a number":  {`{"a": 1}`, func(d *Document) { d.Set(1, "a", "b") }, ErrShape},
		"into an object":    {`{"a": {}}`, func(d *Document) { d.Append(1, "a") }, ErrShape},
		"a key twice":       {`{"a": {}, "a": {}}`, func(d *Document) { d.Set(1, "a", "b") }, ErrTwice},
		"another key twice": {`{"b": {"c": 1, "c": 2}}`, func(d *Document) { d.Set(1, "b", "d") }, ErrTwice},
		"removed from":      {`{"a": {}, "a": {}}`, func(d *Document) { d.Remove("a") }, ErrTwice},
		"read":              {`{"b": [{"c": 1, "c": 2}]}`, func(d *Document) { d.Get("b") }, ErrTwice},
	} {
		d := mustParse(t, c.in)
		c.do(d)
		if _, err := d.Bytes(); !errors.Is(err, c.want) || string(d.text) != c.in {
			t.Errorf("%s: got %v and %s, want %v and what was there", name, err, d.text, c.want)
		}
		d.Set(2, "z")
		d.Append(2, "y")
		d.Remove("b")
		if value, there := d.Get(); there || value != nil || d.Len() != 0 || !errors.Is(d.Err(), c.want) || string(d.text) != c.in {
			t.Errorf("%s: behind the error got %v and %s, %v", name, value, d.text, d.Err())
		}
	}
}

// TestSetThenRemove: what was added can be taken out again, and the text is what it was, but for white space in what was empty.
func TestSetThenRemove(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := generated(t)
		d := mustParse(t, text)
		d.Set(Object{{"command", "x"}, {"args", []string{"y"}}}, "new", "deep")
		d.Append("second", "new", "list")
		got, ok := d.Get("new")
		want := map[string]any{"deep": map[string]any{"command": "x", "args": []any{"y"}}, "list": []any{"second"}}
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Fatalf("%q: %v\n%s", d.text, d.Err(), diff)
		}
		d.Remove("new")
		if back := textOf(t, d); back != text && !emptied(text, back) {
			t.Fatalf("%q became %q", text, back)
		}
	})
}

// emptied reports whether the two differ only by white space in an object that holds nothing.
func emptied(before, after string) bool {
	b := Parse([]byte(before))
	if b.Err() != nil || b.Len() > 0 {
		return false
	}
	strip := func(s string) string { return strings.Join(strings.Fields(s), "") }
	return b.root == nil && strings.HasPrefix(after, before) || strip(before) == strip(after)
}

// generated is a settings file as people write them.
func generated(t *rapid.T) string {
	g := &generator{t: t, newline: rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")}
	g.unit = rapid.SampledFrom([]string{"", "  ", "\t", "    "}).Draw(t, "unit")
	mark := rapid.SampledFrom([]string{"", byteOrderMark}).Draw(t, "mark")
	return mark + g.trivia() + g.object(0) + g.trivia()
}

type generator struct {
	t             *rapid.T
	newline, unit string
}

func (g *generator) trivia() string {
	return rapid.SampledFrom([]string{"", "", "", " ", g.newline, "/* c, } */", "// } x /* */" + g.newline, "\t/**/ "}).Draw(g.t, "trivia")
}

func (g *generator) object(depth int) string {
	var items []string
	for i := range rapid.IntRange(0, 3).Draw(g.t, "members") {
		items = append(items, fmt.Sprintf(`"k%d"%s:%s%s`, i, g.trivia(), g.trivia(), g.value(depth+1)))
	}
	return g.joined("{", "}", items, depth)
}

func (g *generator) value(depth int) string {
	choice := rapid.IntRange(0, 5).Draw(g.t, "kind")
	switch {
	case choice == 0 && depth < 4:
		return g.object(depth)
	case choice == 1 && depth < 4:
		return g.joined("[", "]", []string{g.value(depth + 1), g.value(depth + 1)}, depth)
	}
	b, err := json.Marshal(rapid.SampledFrom([]any{1, -2.5e3, true, nil, "", "a \"b\" // c", "é\u2028"}).Draw(g.t, "literal"))
	if err != nil {
		g.t.Fatal(err)
	}
	return string(b)
}

func (g *generator) joined(opening, closing string, items []string, depth int) string {
	var out strings.Builder
	lines := rapid.Bool().Draw(g.t, "lines")
	between := func(depth int) {
		if lines {
			out.WriteString(g.newline + strings.Repeat(g.unit, depth))
		}
	}
	out.WriteString(opening)
	for i, it := range items {
		between(depth + 1)
		out.WriteString(g.trivia() + it + g.trivia())
		if i < len(items)-1 || rapid.IntRange(0, 4).Draw(g.t, "last comma") == 0 {
			out.WriteString("," + g.trivia())
		}
	}
	between(depth)
	out.WriteString(closing)
	return out.String()
}

func FuzzEdit(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"hooks": {"Stop": [{"a": 1}]}, "x": 2,}`, "{\n\t// c\n\t\"a\": [1, 2]\n}\n", "\ufeff{\"a\":{}}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d := Parse(text)
		before, _ := d.Get()
		if _, there := d.Get("new"); there || d.Err() != nil {
			return // no JSON, or a key stands there twice
		}
		d.Append(Object{{"c", "x"}}, "new", "list")
		if n := d.Len("new", "list"); n != 1 || d.Err() != nil {
			t.Fatalf("%q became %q: %v", text, d.text, d.Err())
		}
		d.Remove("new", "list", 0)
		d.Remove("new")
		after, _ := d.Get()
		if before == nil {
			before = map[string]any{}
		}
		if diff := cmp.Diff(before, after); diff != "" || d.Err() != nil {
			t.Fatalf("%q became %q: %v\n%s", text, d.text, d.Err(), diff)
		}
	})
}

func mustParse(t rapid.TB, text string) *Document {
	t.Helper()
	d := Parse([]byte(text))
	if err := d.Err(); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return d
}

func textOf(t rapid.TB, d *Document) string {
	t.Helper()
	text, err := d.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
