package files

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/internal/toolinput"
	"github.com/cmemd/cmemd/projections/engine"
)

func TestFileOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		input    string
		file     string
		modified bool
	}{
		{`{"file_path":"/a/b.go"}`, "/a/b.go", false},
		{` { "file_path" : "/a/b.go" , "limit" : 10 } `, "/a/b.go", false},
		{`{"file_path":"/a/b.go","old_string":"x","new_string":"y"}`, "/a/b.go", true},
		{`{"old_string":"x","file_path":"/a/b.go"}`, "/a/b.go", true},
		{`{"content":{"nested":[1,"}",{"a":"\""}]},"filePath":"b.go"}`, "b.go", true},
		{`{"file_path":"/a/\u0062 \"c\".go","edits":[{"old":1}]}`, `/a/b "c".go`, true},
		{`{"file_path":"/a/b.go","content":"cut in the midd`, "/a/b.go", true},
		{`{"file_path":"/a/b.go","limi`, "/a/b.go", false},
		{`{"file_path":"/a/b.g`, "", false},
		{`{"notebook_path":"/a.ipynb","new_source":"x"}`, "/a.ipynb", true},
		{`{"path":"/a/dir"}`, "", false},
		{`{"file_path":"/a/Makefile","files":["b"]}`, "/a/Makefile", false},
		{`{"path":"/a/f.txt"}`, "/a/f.txt", false},
		{`{"path":"/a/Makefile","content":""}`, "/a/Makefile", true},
		{`{"pattern":"x","path":"/a/f.txt"}`, "", false},
		{`{"path":"/a/f.txt","pattern":"x"}`, "", false},
		{`{"command":"cat /a/b.go"}`, "", false},
		{`{"input":{"file_path":"/a/b.go"}}`, "", false},
		{`{"file_path":7,"path":"a.go"}`, "a.go", false},
		{`{"file_path":["a"],"x":{}}`, "", false},
		{`"file_path"`, "", false},
		{`[{"file_path":"a"}]`, "", false},
		{``, "", false},
		{`{}`, "", false},
	} {
		if file, modified := fileOf(c.input); file != c.file || file != "" && modified != c.modified {
			t.Errorf("%s: got %q, %v, want %q, %v", c.input, file, modified, c.file, c.modified)
		}
	}
}

func TestRelative(t *testing.T) {
	t.Parallel()
	known := engine.Facts{ProjectRoot: "/home/u/p", GitRoot: "/home/u/worktree"}
	for name, want := range map[string]string{
		"/home/u/p/a/b.go": "a/b.go", "/home/u/worktree/a/b.go": "a/b.go", "a/../b.go": "b.go", "/etc/hosts": "/etc/hosts",
		"/home/u/pp/x": "/home/u/pp/x", "/home/u/p": "", "/home/u/p/": "", "": "", ".": "", "/": "", "https://x/y": "", "/dev/null": "",
		"a\x00b": "", strings.Repeat("x", maxPath+1): "",
	} {
		if got := relative(known, name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	if got := relative(engine.Facts{}, "/a/b"); got != "/a/b" {
		t.Errorf("without a project: got %q", got)
	}
}

// FuzzFileOf compares the scanner with a decoder where the input is JSON.
func FuzzFileOf(f *testing.F) {
	for _, s := range []string{`{"file_path":"a","content":"b"}`, `{"a":[{"b":"}"}],"filePath":"c\\"}`, `{"file_path":"\ud800"}`, `{"":`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, input string) {
		file, _ := fileOf(input)
		var object map[string]json.RawMessage
		if file == "" || json.Unmarshal([]byte(input), &object) != nil {
			return
		}
		for key, raw := range object {
			var text string
			if toolinput.Of(key).Is(toolinput.File|toolinput.Path) && json.Unmarshal(raw, &text) == nil && text == file {
				return
			}
		}
		if strings.Count(input, file) == 0 && !strings.Contains(input, `\`) {
			t.Fatalf("%q is not in %q", file, input)
		}
	})
}
