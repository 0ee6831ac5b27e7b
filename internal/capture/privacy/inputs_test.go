package privacy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/internal/ignore"
	"github.com/cmemd/cmemd/internal/jsonscan"
)

// TestInputsNameFiles in the members that tools have for that: a folder beside a command, patterns, JSON in a string.
func TestInputsNameFiles(t *testing.T) {
	t.Parallel()
	for _, input := range []string{
		`{"command":"cat work","workdir":"/root/.ssh"}`, `{"workdir":"/root/.ssh","command":"cat work"}`, `{"command":["cat","work"],"cwd":"/root/.ssh"}`,
		`{"command":"cat token","directory":"/run/secrets"}`, `{"cmd":"cat credentials","dir":"/root/.aws"}`, `{"path":"work","dir_path":"/root/.ssh"}`,
		`{"calls":[{"command":"ls","workdir":"/s"},{"command":"cat work","workdir":"/root/.ssh"}]}`,
		`{"include":[".env"]}`, `{"include":["a.go","**/.env*"]}`, `{"pattern":"x","glob":"**/.env"}`, `{"pattern":"x","include":".env"}`, `{"glob":"*.{ts,pem}"}`,
		`{"arguments":"{\"path\":\".env\"}"}`, `{"tool_input":"{\"path\":\"/a/.env\"}"}`, `{"input":"{\"calls\":[{\"command\":\"cat .env\"}]}"}`,
		`{"a":"{\"b\":\"{\\\"path\\\":\\\".env\\\"}\"}"}`, `{"command":"[\"cat\",\".env\"]"}`, `{"paths":"[\".env\"]"}`, `{"arguments":"{\"workdir\":\"/root/.ssh\",\"command\":\"cat work\"}"}`,
	} {
		f := (&Rules{}).Inspect("/s", input)
		if f.LeftOut != LeftFile || f.OutputStays {
			t.Errorf("%s: got %+v", input, f)
		}
		got := (&Rules{}).Cut(input, f)
		if !jsonscan.Valid([]byte(got)) || !strings.ContainsAny(strings.ReplaceAll(got, f.Mark(), ""), "./") {
			t.Errorf("%s: its names went: %s", input, got)
		}
	}
	for _, input := range []string{
		`{"command":"cat work","workdir":"/root/work"}`, `{"command":"ls","workdir":"/root/.ssh"}`, `{"glob":"*.go"}`, `{"include":["**/*"]}`, `{"include":"src/**/*.{ts,tsx}"}`,
		`{"glob":"!.env"}`, `{"pattern":".env"}`, `{"exclude":[".env"]}`, `{"file_path":"/s/a.json","content":"{\"path\":\".env\"}"}`, `{"content":"{\"command\":\"cat .env\"}"}`,
		`{"file_path":"a.json","new_string":"{\"files\":[\".env\"]}"}`, `{"arguments":"{\"path\":\"a.go\"}"}`, `{"command":"[ -f a ] && cat b"}`, `{"path":"app/[id]/page.tsx"}`,
		`{"calls":[{"command":"ls","workdir":"/root/.ssh"},{"command":"cat work","workdir":"/s"}]}`, `{"prompt":"{\"path\":\".env\"}"}`,
	} {
		if f := (&Rules{}).Inspect("/s", input); f.LeftOut != "" {
			t.Errorf("%s: got %+v", input, f)
		}
	}
}

// TestInnerContentsAreCut out of JSON in a string, whose names stay.
func TestInnerContentsAreCut(t *testing.T) {
	t.Parallel()
	input := `{"arguments":"{\"path\":\".env\",\"content\":\"A=hunter22\"}"}`
	f := (&Rules{}).Inspect("/s", input)
	if got, want := (&Rules{}).Cut(input, f), `{"arguments":"{\"path\":\".env\",\"content\":\"`+f.Mark()+`\"}"}`; got != want {
		t.Errorf("got %s", got)
	}
	input = `{"path":".env","file":"A=hunter22\nB=hunter22"}`
	if got := (&Rules{}).Cut(input, (&Rules{}).Inspect("/s", input)); strings.Contains(got, "hunter22") || !strings.Contains(got, `".env"`) {
		t.Errorf("got %s", got)
	}
}

// TestIgnoredByMembers: a folder that is ignored, or patterns that lead into one.
func TestIgnoredByMembers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "priv"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{ignore.File: "priv/\n*.notes\n", "priv/a.txt": "x", "b.txt": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rules := NewRules(filepath.Join(dir, "home"), Switches{})
	for input, want := range map[string]bool{
		`{"command":"cat a.txt","workdir":"` + dir + `/priv"}`: true, `{"command":"ls","cwd":"priv"}`: true, `{"command":"ls priv","directory":"` + dir + `"}`: true,
		`{"include":["priv/**"]}`: true, `{"include":["new/**","priv/none/*.go"]}`: true, `{"glob":"pri*/a.txt"}`: true, `{"include":"x.notes"}`: true,
		`{"arguments":"{\"path\":\"priv/a.txt\"}"}`: true, `{"command":["cat","priv/a.txt"],"workdir":"` + dir + `"}`: true,
		`{"command":"cat a.txt","workdir":"` + dir + `"}`: false, `{"include":["**/*.txt"]}`: false, `{"glob":"*.txt"}`: false, `{"glob":"!priv/**"}`: false,
		`{"command":"cat priv/a.txt","workdir":"/elsewhere"}`: false,
	} {
		if f := rules.Inspect(dir, input); f.Ignored != want {
			t.Errorf("%s: got %+v", input, f)
		}
	}
	f := rules.Inspect("/elsewhere", `{"command":"grep -r x .","workdir":"`+dir+`"}`)
	if got, left := rules.CutOutput("/elsewhere", "./priv/x:1:hunter22\n./pub:1:y", f); strings.Contains(got, "hunter22") || !strings.Contains(got, "pub") || len(left) != 1 {
		t.Errorf("got %q, %v", got, left)
	}
}

// TestKeysOfEvidence: what evidence takes for a file is looked at, whatever its key, and no text stays for such a key.
func TestKeysOfEvidence(t *testing.T) {
	t.Parallel()
	for _, input := range []string{
		`{"targetFiles":["a.go",".env"]}`, `{"target_notebook":".env"}`, `{"pathInProject":".env"}`, `{"from":".env","to":"b"}`, `{"from":"a","to":".env"}`,
	} {
		if f := (&Rules{}).Inspect("/work", input); f.LeftOut != LeftFile {
			t.Errorf("%s: %+v, want a private file", input, f)
		}
	}
	input := `{"path":".env","from":"A=one","to":"A=two"}`
	out := (&Rules{}).Cut(input, (&Rules{}).Inspect("/work", input))
	if want := `"path":".env"`; strings.Contains(out, "A=") || !strings.Contains(out, want) {
		t.Errorf("got %s, want %s and no text", out, want)
	}
}
