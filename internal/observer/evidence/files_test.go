package evidence

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
)

func TestFiles(t *testing.T) {
	t.Parallel()
	const patch = "*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** Add File: sub/b.go\n+*** Delete File: no.go\n" +
		"*** Delete File: c.go\n*** Update File: d.go\n*** Move to: e.go\n*** End Patch\n"
	patched := []string{"/p/a.go", "/p/sub/b.go", "/p/c.go", "/p/d.go", "/p/e.go"}
	const diff = "diff --git a/x.go b/x.go\n--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n-++ old\n+++ new\n--- a/gone.go\n+++ /dev/null\n" +
		"--- /dev/null\n+++ b/made.go\t2026-11-20\nrename from old.go\nrename to new.go\n"
	diffed := []string{"/p/x.go", "/p/gone.go", "/p/made.go", "/p/old.go", "/p/new.go"}
	for _, tc := range []struct {
		name           string
		tool           events.ToolUsed
		read, modified []string
	}{
		{"read", used("Read", `{"file_path":"/q/a.go"}`, ``), list("/q/a.go"), nil},
		{"read of a relative path", used("read", `{"path":"./b/../a.go"}`, ``), list("/p/a.go"), nil},
		{"read of many", used("read_many_files", `{"paths":["a.go","b.go","a.go"]}`, ``), list("/p/a.go", "/p/b.go"), nil},
		{"notebook", used("NotebookRead", `{"notebook_path":"/q/n.ipynb"}`, ``), list("/q/n.ipynb"), nil},
		{"absolute_path", used("read_file", `{"absolute_path":"/q/a"}`, ``), list("/q/a"), nil},
		{"edit", used("Edit", `{"file_path":"/q/a.go","old_string":"a","new_string":"b"}`, `{"filePath":"/q/a.go"}`), nil, list("/q/a.go")},
		{"multi edit", used("MultiEdit", `{"file_path":"/q/a.go","edits":[{"old_string":"a","new_string":"b"}]}`, ``), nil, list("/q/a.go")},
		{"edits of several files", used("edits", `{"edits":[{"path":"a"},{"filePath":"b"},{"file_path":"a"}]}`, ``), nil, list("/p/a", "/p/b")},
		{"write", used("fs_write", `{"path":"a.md","file_text":"x"}`, ``), nil, list("/p/a.md")},
		{"camelCase", used("editFile", `{"filePath":"a.md","newString":"x"}`, ``), nil, list("/p/a.md")},
		{"notebook edit", used("NotebookEdit", `{"notebook_path":"/q/n.ipynb","new_source":"x"}`, ``), nil, list("/q/n.ipynb")},
		{"move", used("move_file", `{"source":"a","destination":"b"}`, ``), nil, list("/p/a", "/p/b")},
		{"delete by name", used("delete_file", `{"target_file":"a.go"}`, ``), nil, list("/p/a.go")},
		{"patch as text", used("apply_patch", patch, ``), nil, patched},
		{"patch as a JSON string", used("apply_patch", mustJSON(t, patch), ``), nil, patched},
		{"patch in a field", used("apply_patch", mustJSON(t, map[string]string{"patch": patch}), ``), nil, patched},
		{"patch in input", used("apply_patch", mustJSON(t, map[string]string{"input": patch}), ``), nil, patched},
		{"patch in edits", used("apply_patch", mustJSON(t, map[string]any{"edits": []any{map[string]string{"patch": patch}}}), ``), nil, patched},
		{"patch in a shell", used("shell", mustJSON(t, map[string]any{"command": []string{"bash", "-lc", "apply_patch <<'EOF'\n" + patch + "EOF"}}), ``), nil, patched},
		{"unified diff", used("apply_patch", mustJSON(t, map[string]string{"patch": diff}), ``), nil, diffed},
		{"patch that was cut", used("apply_patch", mustJSON(t, map[string]string{"patch": patch})[:100], ``), nil, list("/p/a.go", "/p/sub/b.go")},
		{"patch quoted in a file", used("Write", mustJSON(t, map[string]string{"file_path": "doc.md", "content": patch}), ``), nil, list("/p/doc.md")},
		{"patch echoed in a shell", used("Bash", mustJSON(t, map[string]string{"command": "cat <<'EOF'\n" + patch + "EOF"}), ``), nil, nil},
		{"command", used("Bash", `{"command":"cat a.go > b.go","path":"x"}`, ``), nil, nil},
		{"search", used("Grep", `{"pattern":"x","path":"/q/a.go"}`, ``), nil, nil},
		{"list", used("LS", `{"path":"/q"}`, ``), nil, nil},
		{"folder", used("create_directory", `{"path":"/q/d"}`, ``), nil, nil},
		{"web", used("WebFetch", `{"url":"https://x/a.go","path":"y"}`, ``), nil, nil},
		{"URL as a path", used("Read", `{"file_path":"https://x/a.go"}`, ``), nil, nil},
		{"file URL", used("Read", `{"file_path":"file:///q/a.go"}`, ``), list("/q/a.go"), nil},
		{"null device", used("Write", `{"file_path":"/dev/null","content":""}`, ``), nil, nil},
		{"trailing slash", used("Read", `{"path":"src/"}`, ``), nil, nil},
		{"home", used("edit", `{"path":"~/.pi/nord.json","oldText":"a"}`, ``), nil, list("~/.pi/nord.json")},
		{"Windows", used("Edit", `{"file_path":"C:\\p\\a.go","old_string":"a"}`, ``), nil, list(`C:\p\a.go`)},
		{"working folder of the call", used("apply_patch", mustJSON(t, map[string]string{"patch": diff[:60], "workdir": "/w"}), ``), nil, list("/w/x.go")},
		{"MCP file", used("mcp__fs__write_file", `{"path":"a.go","content":"x"}`, ``), nil, list("/p/a.go")},
		{"MCP page", used("mcp__wiki__update_page", `{"path":"Home"}`, ``), nil, nil},
		{"MCP without files", used("mcp__l__create_document", `{"title":"a","content":"x"}`, `{"filePath":"/q/x"}`), nil, nil},
		{"input cut in the content", used("Write", `{"file_path":"/q/a.go","content":"pack`, ``), nil, list("/q/a.go")},
		{"input cut before the path", used("Write", `{"content":"pack`, `{"type":"create","filePath":"/q/a.go"}`), nil, list("/q/a.go")},
		{"path cut", used("Read", `{"file_path":"/q/a.g`, ``), nil, nil},
		{"content cut in the middle", used("Edit", "{\"file_path\":\"/q/a.go\",\"old_string\":\"ab\n[... 2 kB left out ...]\nc\",\"new_string\":\"d\"}", ``), nil, list("/q/a.go")},
		{"encoded twice", used("edit", mustJSON(t, `{"path":"a.go","newText":"x"}`), ``), nil, list("/p/a.go")},
		{"answer names the file", used("magic", `{}`, `{"filePath":"/q/a.go","structuredPatch":[]}`), nil, list("/q/a.go")},
		{"OpenCode's answer", used("edit", `{`, `{"title":"a","metadata":{"filediff":{"file":"/q/a.go","before":"","after":"x"}}}`), nil, list("/q/a.go")},
		{"a file that talks of files", used("cat_tool", `{"name":"x"}`, `{"path":"/q/a.go","content":"x"}`), nil, nil},
		{"no JSON", used("Edit", `file_path: a.go`, ``), nil, nil},
		{"empty", used("", ``, ``), nil, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			read, modified := Parse(tc.tool).Files()
			if diff := cmp.Diff(tc.read, read); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.modified, modified); diff != "" {
				t.Errorf("modified (-want +got):\n%s", diff)
			}
			failed := tc.tool
			failed.Failed = true
			if read, modified := Parse(failed).Files(); read != nil || modified != nil {
				t.Errorf("failed, it touched %q, %q", read, modified)
			}
		})
	}
}

func list(s ...string) []string { return s }

func TestFilesAreBounded(t *testing.T) {
	t.Parallel()
	var paths []string
	for i := range 3 * maxFiles {
		paths = append(paths, fmt.Sprintf("f%d.go", i/2))
	}
	read, _ := Parse(used("read_many", mustJSON(t, map[string]any{"paths": paths}), ``)).Files()
	if len(read) != maxFiles || read[0] != "/p/f0.go" || read[maxFiles-1] != fmt.Sprintf("/p/f%d.go", maxFiles-1) {
		t.Errorf("%d files, from %v", len(read), read[:1])
	}
	long := strings.Repeat("x", maxPath)
	if read, _ := Parse(used("Read", mustJSON(t, map[string]string{"file_path": "/" + long}), ``)).Files(); read != nil {
		t.Errorf("a path of %d bytes is kept", len(read[0]))
	}
	var patch strings.Builder
	for i := range 2 * maxFiles {
		fmt.Fprintf(&patch, "*** Add File: f%d.go\n+x\n", i)
	}
	if _, modified := Parse(used("apply_patch", patch.String(), ``)).Files(); len(modified) != maxFiles {
		t.Errorf("%d files of a patch, want %d", len(modified), maxFiles)
	}
}

func TestRel(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ root, path, want string }{
		{"/p", "/p/a/b.go", "a/b.go"},
		{"/p/", "/p/a.go", "a.go"},
		{"/p", "/pp/a.go", "/pp/a.go"},
		{"/p", "/p", "/p"},
		{"/", "/a.go", "a.go"},
		{"", "/a.go", "/a.go"},
		{"/p", "a.go", "a.go"},
		{`C:\p`, `C:\p\a\b.go`, "a/b.go"},
		{`C:\p`, `D:\p\a.go`, `D:\p\a.go`},
	} {
		if got := Rel(tc.root, tc.path); got != tc.want {
			t.Errorf("Rel(%q, %q) = %q, want %q", tc.root, tc.path, got, tc.want)
		}
	}
}

func FuzzFiles(f *testing.F) {
	for _, s := range []struct{ tool, in, out string }{
		{"Edit", `{"file_path":"/p/a.go","old_string":"a\"}`, `{"filePath":"/p/a.go"}`},
		{"apply_patch", "*** Update File: a\n--- a/b\n+++ b/c", ``},
		{"Bash", `{"command":["sh","-c","a && b <<E\nx\nE\n"]}`, `{"stdout":"Exit code 1`},
		{"x", `{"edits":[{"path":"a"},[[[[[[[[]]]]]]]]`, `"{\"file\":1}"`},
	} {
		f.Add(s.tool, s.in, s.out)
	}
	f.Fuzz(func(t *testing.T, tool, in, out string) {
		u := events.ToolUsed{Tool: tool, Input: in, Output: out, Cwd: "/p"}
		read, modified := Parse(u).Files()
		for _, p := range slices.Concat(read, modified) {
			if p == "" || len(p) > maxPath || strings.ContainsAny(p, "\n\x00") {
				t.Errorf("%q is no path", p)
			}
		}
		if len(read) > maxFiles || len(modified) > maxFiles {
			t.Errorf("%d read, %d modified", len(read), len(modified))
		}
		s := Parse(u).Shape()
		if s.Kind == "" || len(s.Output) > maxTail || utf8.ValidString(in+out) && !utf8.ValidString(s.Output) {
			t.Errorf("%+v", s)
		}
	})
}

// TestChangedByShell reads what Claude Code says that a command line changed.
func TestChangedByShell(t *testing.T) {
	t.Parallel()
	const diff = `{"stdout":"","interrupted":false,"bashEditDiff":{"files":[` +
		`{"filePath":"/p/gone.md","hunks":[{"oldStart":1,"oldLines":1,"newStart":1,"newLines":0,"lines":["-x"]}],"deleted":true},` +
		`{"filePath":"/p/new.md","hunks":[{"lines":["+a","+b"]}],"created":true},` +
		`{"filePath":"[left out]","hunks":[{"lines":["[left out]"]}]},` +
		`{"filePath":"/p/n.md","hunks":[{"lines":[" a","+b"]},{"lines":["-c","+d"]}]}],"moreFiles":1,"changedFiles":["/p/gone.md","/p/n.md","/p/more.md","[left out]"]}}`
	run := func(command string, failed bool) *Call {
		return Parse(events.ToolUsed{Tool: "Bash", Input: mustJSON(t, obj{"command": command}), Output: diff, Cwd: "/p", Failed: failed})
	}
	want := []Changed{
		{Path: "/p/gone.md", Deleted: true, Minus: 1}, {Path: "/p/new.md", Created: true, Plus: 2}, {Path: "/p/n.md", Plus: 2, Minus: 1}, {Path: "/p/more.md"},
	}
	if diff := cmp.Diff(want, run("python3 gen.py", false).ChangedByShell()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_, modified := run("python3 gen.py", false).Files()
	if diff := cmp.Diff([]string{"/p/gone.md", "/p/new.md", "/p/n.md", "/p/more.md"}, modified); diff != "" {
		t.Errorf("modified (-want +got):\n%s", diff)
	}
	for _, c := range []*Call{run("python3 gen.py", true), run("git checkout -q main", false), run("make && git stash pop", false)} {
		if got := c.ChangedByShell(); got != nil {
			t.Errorf("%s, failed %v: got %+v, want none", c.Input, c.Failed, got)
		}
	}
}
