package jsonscan

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMembers compares the reader of members and elements with encoding/json.
func TestMembers(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		`{}`, ` { "a" : 1 , "b":[1,{"c":"}"}], "c":"\"]}" , "d":{"e":[[]]},"\u0066":null} `, `[1, "a,b" ,[2],{"x":1} ]`, `[]`, `"x"`, `1`,
	} {
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(in), &object) == nil {
			got := map[string]json.RawMessage{}
			Members([]byte(in), func(k, v []byte) bool { got[string(k)] = v; return true })
			if diff := cmp.Diff(object, got); diff != "" {
				t.Errorf("members of %s: -want +got:\n%s", in, diff)
			}
		}
		var array []json.RawMessage
		if json.Unmarshal([]byte(in), &array) == nil {
			got := []json.RawMessage{}
			Elements([]byte(in), func(v []byte) bool { got = append(got, v); return true })
			if diff := cmp.Diff(array, got); diff != "" {
				t.Errorf("elements of %s: -want +got:\n%s", in, diff)
			}
		}
	}
}

// FuzzSkip compares what skips with encoding/json where the text is valid, and asks only for an answer where it is not.
func FuzzSkip(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":"\\\""}],"c\ud800":null}`, `"\\"`, `"a\"`, `[[`, `12 ,`, `]`, "\"\xff\"", `true}`, ``} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if ValueEnd(data) != ValueEnd(string(data)) || StringEnd(data) != StringEnd(string(data)) {
			t.Fatalf("%q ends elsewhere as a string", data)
		}
		if out, rest := AppendUnquoted(nil, data); len(rest) == 0 && len(out) > 2*len(data) {
			t.Fatalf("%q is %q without escapes", data, out)
		}
		i := Space(data, 0)
		if !json.Valid(data) {
			return
		}
		if end := i + ValueEnd(data[i:]); Space(data, end) != len(data) {
			t.Fatalf("the value of %q ends at %d", data, end)
		}
		var want map[string]json.RawMessage
		if data[i] == '{' && json.Unmarshal(data, &want) == nil {
			got := map[string]json.RawMessage{}
			Members(data, func(name, value []byte) bool { got[string(name)] = value; return true })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("members of %q: -want +got:\n%s", data, diff)
			}
		}
	})
}
