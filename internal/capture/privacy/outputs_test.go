package privacy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/internal/ignore"
)

// TestNamedFilesAreMasked in the ways in which programs write whose lines come. Between « and » stands what goes.
func TestNamedFilesAreMasked(t *testing.T) {
	t.Parallel()
	for _, c := range []string{
		"==> a.go <==\nx\n\n==> ./.env <==\n«A=hunter22\n\n»==> b.go <==\ny", "--- a.txt ---\n\nx\n\n--- .env ---\n«\nA=hunter22\n\n»--- End of content ---\nok",
		"diff --git a/.env b/.env\n«index 1..2\n@@ -1 +1 @@\nA=[-hunter21-]{+hunter22+}\nB»\ndiff --git a/x.go b/x.go\n@@ -1 +1 @@\n+y",
		"* commit 12ab34\n| A b\n|\n| diff --git a/.env b/.env\n«| index 1..2\n| @@ -1 +1 @@\n| +A=hunter22\n|»\n* commit 34cd56\n  more",
		"| | diff --git a/.env b/.env\n«| | +A=hunter22»\n| | diff --git a/x b/x\n| | +y", "diff -r old/.env new/.env\n«1c1\n< A=hunter21\n---\n> A=hunter22»\ndiff -r old/a new/a\n< x",
		"«" + `{"type":"match","data":{"path":{"text":".env"},"lines":{"text":"A=hunter22\n"},"line_number":1}}` + "»\n" + `{"type":"match","data":{"path":{"text":"a"},"lines":{"text":"x\n"}}}`,
		"File: .env\n«   1   A=hunter22\n   2   B»\nok", "       │ File: .env\n«───────┼─────\n   1   │ A=hunter22\n───────┴─────\n»", "Found 1 matches\n/p/.env:\n«  Line 1: A=hunter22»\n\n/p/a.go:\n  Line 3: x",
		`[{"path":".env","content":"«A=hunter22»"},{"path":"a.go","content":"x"}]`, `{"matches":[{"content":"«A=hunter22»","file":"/p/.env","status":"modified","line":3}]}`,
		`{"matches":[{"path":{"text":".env"},"lines":{"text":"«hunter22»"}}]}`, `{"files":{".env":"«hunter22»","a.go":"x"}}`, `{"files":{".env":{"body":"«hunter22»"}}}`,
		`{"content":[{"type":"text","text":"{\"path\":\".env\",\"body\":\"«hunter22»\"}"}]}`,
		"environ({«'PATH': '/b', 'A': 'hunter22', 'HOME': '/h'»})", "a\nenviron({«'USERPROFILE': 'C:', 'PATH': '/b', 'A': 'hunter22'»})\nb", "environ({'A': '1'})\nenviron({«'PATH': '/b', 'HOME': '/h'»})", `[{"Config":{"Env":["«PATH=/bin»","«A=hunter22»","«HOME=/root»"],"Cmd":["sh"]}}]`, `{"env":{"PATH":"«/bin»","A":"«hunter22»"},"args":["x"]}`,
	} {
		want := c
		for strings.Contains(want, "«") {
			before, rest, _ := strings.Cut(want, "«")
			gone, after, _ := strings.Cut(rest, "»")
			mark := leftMark("contents of a dotenv file")
			if strings.Contains(c, "environ(") || strings.Contains(c, "PATH") {
				mark = leftMark(environment)
			}
			if strings.HasSuffix(gone, "\n") {
				mark += "\n"
			}
			want = before + mark + after
		}
		output := strings.NewReplacer("«", "", "»", "").Replace(c)
		if got, left := (&Rules{}).CutOutput("/s", output, Finding{}); got != want || len(left) != 1 {
			t.Errorf("%s:\n got %s %v\nwant %s", output, got, left, want)
		}
		if output[0] == '[' || output[0] == '{' {
			continue
		}
		if got, _ := (&Rules{}).CutOutput("/s", `{"stdout":`+quotedText(output)+`}`, Finding{}); got != `{"stdout":`+quotedText(want)+`}` {
			t.Errorf("%s:\nin JSON %s", output, got)
		}
	}
}

// TestOrdinaryOutputsStay that only look as if a private file's lines came.
func TestOrdinaryOutputsStay(t *testing.T) {
	t.Parallel()
	for _, output := range []string{
		"==> main.go <==\nx\n==> Downloading .env", "--- PASS: TestEnv ---\nok", "--- .env", "Files: .env\n1: x", "File: main.go\n   1   x", "main.go:\n  Line 1: .env", "| name | .env |\n| --- | --- |",
		`[{"path":"a.go","content":"read .env"}]`, `{"filenames":[".env","main.go"],"mode":"files_with_matches","content":"x"}`, `{"files":[".env"],"note":"see"}`,
		`{"file":".env","status":"modified","type":"file"}`, `{"env":["NODE_ENV=test"],"x":"y"}`, `{"env":{"NODE_ENV":"test"}}`, `{"event.key":"Enter","login.key":"Sign in"}`,
		"diff --git a/x.go b/x.go\n@@ -1 +1 @@\n-x\n+y\nmake: done", "| diff --git a/x b/x\n| +y", "os.environ.get('A')", "with mock.environ({'A': '1'}):\n\tpass", "os.environ({x})", "environ({'PATHS': '/b', 'HOME': '/h'})", "{\"a\":1}\n{\"path\":\"x.go\"}", "{ not json .env",
	} {
		if got, left := (&Rules{}).CutOutput("/s", output, Finding{}); got != output || left != nil {
			t.Errorf("%s:\n got %s, %v", output, got, left)
		}
	}
}

// TestListingsEndNoFile: what stands behind a listing is of the same private file, up to the next. Of these, all but x goes.
func TestListingsEndNoFile(t *testing.T) {
	t.Parallel()
	const members = "{'PATH':'/b', 'HOME':'/h', 'A1':'a', 'B1':'b', 'C1':'c', 'D1':'d', 'E1':'e', 'F1':'f'}"
	variables, comments := "PATH=/b\nHOME=/h\nA=1\nB=2\nC=3\n", strings.Repeat("# so it is\n", 10)
	file, env := leftMark("contents of a dotenv file"), leftMark(environment)
	for _, c := range [][2]string{
		{"==> .env <==\n" + variables + comments + "hunter22\n==> x <==\nx", "==> .env <==\n" + env + "\n" + file + "\n==> x <==\nx"},
		{"==> .env <==\nhunter22\n" + variables + comments + "hunter22\n" + variables + comments, "==> .env <==\n" + file + "\n" + env + "\n" + file + "\n" + env + "\n" + file + "\n"},
		{"diff --git a/.env b/.env\n" + variables + comments + "hunter22\ndiff --git a/x b/x\n+x", "diff --git a/.env b/.env\n" + env + "\n" + file + "\ndiff --git a/x b/x\n+x"},
		{"==> .env <==\nvars = " + members + " hunter22\nhunter22\n==> x <==\nx", "==> .env <==\n" + file + env + file + "\n==> x <==\nx"},
		{".env:3:" + members + ", hunter22\nx", file + env + file + "\nx"},
		{".env\n3:" + members + " hunter22\n4:hunter22\n\nx", ".env\n" + file + env + file + "\n\nx"},
		{"==> x <==\n" + variables + comments + "x\n==> .env <==\nhunter22\n", "==> x <==\n" + env + "\n" + comments + "x\n==> .env <==\n" + file + "\n"},
	} {
		output, want := c[0], c[1]
		if got, left := (&Rules{}).CutOutput("/s", output, Finding{}); got != want || len(left) == 0 {
			t.Errorf("%q:\n got %q, %v\nwant %q", output, got, left, want)
		}
	}
}

// TestPublicKeysStay, and nothing that stands beside one.
func TestPublicKeysStay(t *testing.T) {
	t.Parallel()
	const public = "-----BEGIN CERTIFICATE-----\nMIIB\nAg==\n-----END CERTIFICATE-----\n"
	f := (&Rules{}).Inspect("/s", `{"command":"cat public.pem"}`)
	for _, output := range []string{public, public + public, "-----BEGIN PUBLIC KEY-----\r\nMIIB\r\n-----END PUBLIC KEY-----"} {
		if got, left := (&Rules{}).CutOutput("/s", output, f); got != output || left != nil {
			t.Errorf("%q: got %q, %v", output, got, left)
		}
	}
	for _, output := range []string{
		public + "hunter22 x", public + "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n", "-----BEGIN EC PRIVATE KEY-----\nMIIB\n-----END EC PRIVATE KEY-----", "hunter22\n" + public,
		"-----BEGIN CERTIFICATE-----\nhunter_22\n-----END CERTIFICATE-----", "-----BEGIN CERTIFICATE-----\nMIIB\n", "",
	} {
		if got, _ := (&Rules{}).CutOutput("/s", output, f); output != "" && got != f.Mark() {
			t.Errorf("%q: got %q", output, got)
		}
	}
	dotenv := (&Rules{}).Inspect("/s", `{"command":"cat .env"}`)
	if got, _ := (&Rules{}).CutOutput("/s", public, dotenv); got != dotenv.Mark() {
		t.Errorf("of a dotenv file: got %q", got)
	}
}

// TestFilesThatAShellChanged: Claude Code says of a command line which files it changed, with lines of the first.
func TestFilesThatAShellChanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ignore.File), []byte("*.notes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rules := NewRules(filepath.Join(dir, "home"), Switches{})
	file := func(name, line string) string {
		return `{"filePath":"` + dir + "/" + name + `","hunks":[{"oldStart":1,"oldLines":1,"newStart":1,"newLines":1,"lines":["-` + line + `"]}]}`
	}
	out, _ := rules.CutOutput(dir, `{"stdout":"","bashEditDiff":{"files":[`+file(".env", "A=hunter22")+","+file("x.notes", "hunter23")+","+file("a.go", "kept")+`],`+
		`"moreFiles":0,"changedFiles":["`+dir+`/.env","`+dir+`/x.notes","`+dir+`/a.go"]}}`, rules.Inspect(dir, `{"command":"sh gen.sh"}`))
	for text, stays := range map[string]bool{"hunter22": false, "hunter23": false, "x.notes": false, "kept": true, dir + "/a.go": true} {
		if strings.Contains(out, text) != stays {
			t.Errorf("%q in what is left: got %v, want %v\n%s", text, !stays, stays, out)
		}
	}
}
