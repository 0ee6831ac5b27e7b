package evidence

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestKeysArePlain(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		key, plain string
		want       bool
	}{
		{"file_path", "filepath", true},
		{"filePath", "filepath", true},
		{"FILE-PATH_", "filepath", true},
		{"filepath", "filepath", true},
		{"file_paths", "filepath", false},
		{"file", "filepath", false},
		{"_", "", true},
		{"", "path", false},
	} {
		m := member{key: tc.key}
		if got := m.is(tc.plain); got != tc.want {
			t.Errorf("%q is %q: %t", tc.key, tc.plain, got)
		}
	}
}

// TestTextsAreValid: what is no UTF-8 is read as encoding/json reads it, with an escape beside it and without, whole and cut.
func TestTextsAreValid(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\"\xbd\xbda/b\"": "\uFFFD\uFFFDa/b", "\"\xbda\\tb\"": "\uFFFDa\tb", "\"\xbda": "\uFFFDa", "\"\xbda\\tb\\u12": "\uFFFDa\tb\\u12",
	} {
		if got := parseJSON(text).String(); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// Whatever a field holds, it is read as encoding/json wrote it, and so is the field behind it; of a field that was cut
// what stood before the cut is a beginning.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{"", `"`, `\`, `\\"`, `a\"b`, "\n", "<é", "{\"a\":[", "\u2028"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, cut int) {
		parseJSON(s)
		if !utf8.ValidString(s) {
			return
		}
		b, err := json.Marshal([]any{map[string]any{"a_b": s, "in": []any{s}}, s})
		if err != nil {
			t.Fatal(err)
		}
		v := parseJSON(string(b))
		if len(v.list) != 2 || v.list[0].get("ab").String() != s || v.list[1].String() != s || v.list[0].get("in").strings()[0] != s {
			t.Errorf("%s is read as %+v", b, v)
		}
		object := string(b[1:])
		part := object[:max(0, min(cut, len(object)))]
		if got := parseJSON(part).get("ab"); !got.cut && got.text && got.String() != s || !strings.HasPrefix(object[len(`{"a_b":"`):], got.raw) {
			t.Errorf("%s is read as %+v", part, got)
		}
	})
}
