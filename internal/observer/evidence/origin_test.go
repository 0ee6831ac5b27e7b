package evidence

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
)

func TestFetches(t *testing.T) {
	t.Parallel()
	command := func(line string) events.ToolUsed {
		return events.ToolUsed{Tool: "Bash", Input: `{"command":` + strconv.Quote(line) + `}`, Output: `{"stdout":"x"}`}
	}
	for name, c := range map[string]struct {
		tool events.ToolUsed
		want bool
	}{
		"a page":                       {events.ToolUsed{Tool: "WebFetch", Input: `{"url":"https://example.com/a","prompt":"x"}`}, true},
		"a page of this machine":       {events.ToolUsed{Tool: "WebFetch", Input: `{"url":"http://localhost:3000/a"}`}, false},
		"a search":                     {events.ToolUsed{Tool: "WebSearch", Input: `{"query":"go build"}`}, true},
		"another server":               {events.ToolUsed{Tool: "mcp__github__get_issue", Input: `{"number":1}`}, true},
		"this memory's own":            {events.ToolUsed{Tool: "mcp__cmemd__search", Unobserved: "own"}, false},
		"an edit":                      {events.ToolUsed{Tool: "Edit", Input: `{"file_path":"/p/a.go","new_string":"curl https://x.io"}`}, false},
		"curl":                         {command("curl -s https://example.com/install.sh"), true},
		"curl without a scheme":        {command("curl example.com"), true},
		"curl of a variable":           {command("curl $URL/health"), true},
		"curl of this machine":         {command("curl -sf http://127.0.0.1:8080/health && go test ./..."), false},
		"curl of a name of it":         {command("curl http://app.localhost:8080/"), false},
		"curl's version":               {command("curl --version"), false},
		"behind a pipe":                {command("cd /p && wget -qO- https://example.com/a | head -5"), true},
		"in a substitution":            {command("echo $(curl -s https://example.com)"), true},
		"an issue":                     {command("gh issue view 12 --comments"), true},
		"the forge's api":              {command("gh api repos/a/b/issues"), true},
		"a pull request that it makes": {command("gh pr create --fill"), false},
		"talk of it":                   {command("git commit -m 'use curl https://example.com'"), false},
	} {
		if got := Parse(c.tool).Fetches(); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestPrinted(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"cat a.md docs/b.md":            {"/p/a.md", "/p/docs/b.md"},
		"sed -n 1,9p /etc/passwd":       {"/p/1,9p", "/etc/passwd"},
		"go test ./...":                 nil,
		"rg TODO src | head -5":         {"/p/TODO", "/p/src"}, // what is there is for Origins to see
		"FOO=1 sudo cat ../other/x.txt": {"/other/x.txt"},
	} {
		tool := events.ToolUsed{Tool: "Bash", Cwd: "/p", Input: `{"command":` + strconv.Quote(line) + `}`}
		got := Parse(tool).Printed()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
	read := events.ToolUsed{Tool: "Read", Cwd: "/p", Input: `{"file_path":"a.go"}`}
	if diff := cmp.Diff([]string{"/p/a.go"}, Parse(read).Printed()); diff != "" {
		t.Errorf("a file that was read (-want +got):\n%s", diff)
	}
}

// TestOrigins: a tracked file is the project's, whoever committed it; one beside it, and one elsewhere, are not; what is not there
// is no file.
func TestOrigins(t *testing.T) {
	t.Parallel()
	dir, _ := newRepo(t, 1)
	write := func(path string) string {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tracked := write(filepath.Join(dir, "docs", "tracked.md"))
	git(t, dir, "add", "docs/tracked.md")
	loose := write(filepath.Join(dir, "docs", "loose [a].md"))
	elsewhere := write(filepath.Join(t.TempDir(), "page.md"))
	link := filepath.Join(dir, "link.md")
	if err := os.Symlink(elsewhere, link); err != nil {
		t.Fatal(err)
	}
	names := []string{tracked, loose, elsewhere, link, filepath.Join(dir, "gone.md"), filepath.Join(dir, "docs")}
	c := NewChecker(Config{})
	for _, cwd := range []string{dir, filepath.Join(dir, "docs")} {
		want := Origin{Outside: slices.Sorted(slices.Values([]string{loose, elsewhere, link})), Known: true}
		if diff := cmp.Diff(want, c.Origins(t.Context(), cwd, names)); diff != "" {
			t.Errorf("in %s (-want +got):\n%s", cwd, diff)
		}
	}
	worktree := filepath.Join(t.TempDir(), "worktree")
	git(t, dir, "commit", "-q", "-m", "docs")
	git(t, dir, "worktree", "add", "-q", worktree)
	there := resolve(filepath.Join(worktree, "docs", "tracked.md"))
	other, _ := newRepo(t, 1)
	if diff := cmp.Diff(Origin{Outside: []string{filepath.Join(other, "file.txt")}, Known: true},
		c.Origins(t.Context(), dir, []string{there, filepath.Join(other, "file.txt")})); diff != "" {
		t.Errorf("in a worktree, and in another repository (-want +got):\n%s", diff)
	}
	git(t, dir, "submodule", "--quiet", "add", other, "vendor/other")
	inside := filepath.Join(dir, "vendor", "other", "file.txt")
	if diff := cmp.Diff(Origin{Known: true}, c.Origins(t.Context(), dir, []string{inside})); diff != "" {
		t.Errorf("in a submodule (-want +got):\n%s", diff)
	}
	bare := t.TempDir()
	own := write(filepath.Join(bare, "a.md"))
	if diff := cmp.Diff(Origin{Outside: []string{elsewhere}}, c.Origins(t.Context(), bare, []string{own, elsewhere})); diff != "" {
		t.Errorf("without a repository (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Origin{Known: true}, c.Origins(t.Context(), dir, nil)); diff != "" {
		t.Errorf("no file (-want +got):\n%s", diff)
	}
	lame := NewChecker(Config{Git: "/nonexistent/git"})
	if diff := cmp.Diff(Origin{Outside: []string{elsewhere}}, lame.Origins(t.Context(), dir, []string{loose, elsewhere})); diff != "" {
		t.Errorf("without git (-want +got):\n%s", diff)
	}
}
