package evidence

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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
		"a page":                    {events.ToolUsed{Tool: "WebFetch", Input: `{"url":"https://example.com/a","prompt":"x"}`}, true},
		"a page of this machine":    {events.ToolUsed{Tool: "WebFetch", Input: `{"url":"http://localhost:3000/a"}`}, false},
		"a search":                  {events.ToolUsed{Tool: "WebSearch", Input: `{"query":"go build"}`}, true},
		"a search that was refused": {events.ToolUsed{Tool: "WebSearch", Input: `{"query":"go build"}`, Failed: true, Refused: true}, false},
		"another server":            {events.ToolUsed{Tool: "mcp__github__get_issue", Input: `{"number":1}`}, true},
		"a tool that does not exist": {events.ToolUsed{
			Tool: "mcp__shop__ask", Failed: true, Output: `"<tool_use_error>Error: No such tool available: mcp__shop__ask</tool_use_error>"`,
		}, false},
		"a server that says more": {events.ToolUsed{
			Tool: "mcp__shop__ask", Failed: true, Output: `"<tool_use_error>Error: No such tool available: mcp__shop__ask</tool_use_error> Run x."`,
		}, true},
		"a server that says another name": {events.ToolUsed{
			Tool: "mcp__shop__ask", Failed: true, Output: `"<tool_use_error>Error: No such tool available: push it</tool_use_error>"`,
		}, true},
		"another server that failed":   {events.ToolUsed{Tool: "mcp__shop__ask", Failed: true, Output: "Error: ask the other shop"}, true},
		"a server's resource":          {events.ToolUsed{Tool: "ReadMcpResourceTool", Input: `{"server":"docs","uri":"docs://team"}`}, true},
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
		"a clone":                      {command("git clone -q https://example.com/a/b /tmp/b && ls /tmp/b"), true},
		"a package's page":             {command("npm view left-pad readme"), true},
		"a script of the project":      {command("npm run search"), false},
		"talk of it":                   {command("git commit -m 'use curl https://example.com'"), false},
	} {
		if got := Parse(c.tool).Fetches(); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestPrinted(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]Printed{
		"cat a.md docs/b.md":               {Files: []string{"/p/a.md", "/p/docs/b.md"}},
		"sed -n 1,9p /etc/passwd":          {Files: []string{"/etc/passwd"}},
		"go test ./...":                    {},
		"rg TODO src | head -5":            {Files: []string{"/p/src"}},
		"FOO=1 sudo cat ../other/x.txt":    {Files: []string{"/other/x.txt"}},
		"cat ~/a.md $HOME/b.md ${HOME}/c":  {Files: []string{"~/a.md", "~/b.md", "~/c"}},
		"cd /tmp/x && cat a.md":            {Files: []string{"/p/a.md", "/tmp/x/a.md"}}, // what is there is for Origins to see
		"cd docs; cd ../..; cat a.md":      {Files: []string{"/p/a.md", "/p/docs/a.md", "/a.md"}},
		"git show FETCH_HEAD:docs/a.md":    {Revisions: []Revisions{{"/p", []string{"FETCH_HEAD"}}}},
		"git log --oneline -5 a..b -- c.d": {Revisions: []Revisions{{"/p", []string{"a..b"}}}},
		"git diff a..b; git diff c...d":    {Revisions: []Revisions{{"/p", []string{"a", "b"}}, {"/p", []string{"c..d"}}}},
		"git diff HEAD; git push origin b": {Revisions: []Revisions{{"/p", nil}}},
		"git diff a..--output=/x":          {Revisions: []Revisions{{"/p", []string{"a"}}}},
		"cat ../o/*.md *.md":               {Files: []string{"/o"}},
		"grep -r x /o/ | sort /p/y":        {Files: []string{"/o", "/p/y"}},
		"git --git-dir=/o/.git show :/fix": {Revisions: []Revisions{{"/o/.git", []string{":/fix"}}}},
		"cd /o && git -C q log":            {Revisions: []Revisions{{"/o/q", nil}}},
	} {
		tool := events.ToolUsed{Tool: "Bash", Cwd: "/p", Input: `{"command":` + strconv.Quote(line) + `}`}
		if diff := cmp.Diff(want, Parse(tool).Printed(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
	for name, c := range map[string]struct {
		tool events.ToolUsed
		want []string
	}{
		"a file that was read":      {events.ToolUsed{Tool: "Read", Cwd: "/p", Input: `{"file_path":"a.go"}`}, []string{"/p/a.go"}},
		"a folder that was search":  {events.ToolUsed{Tool: "Grep", Cwd: "/p", Input: `{"pattern":"x","path":"/tmp/o"}`}, []string{"/tmp/o"}},
		"names that were looked at": {events.ToolUsed{Tool: "Glob", Cwd: "/p", Input: `{"pattern":"*","path":"/tmp/o"}`}, nil},
	} {
		if diff := cmp.Diff(c.want, Parse(c.tool).Printed().Files, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestForeign: what was fetched and is on no branch is others'; what is on one, was at HEAD or is in a stash is the project's.
func TestForeign(t *testing.T) {
	t.Parallel()
	theirs, _ := newRepo(t, 1)
	git(t, theirs, "branch", "old")
	dir := filepath.Join(resolve(t.TempDir()), "mine")
	git(t, theirs, "clone", "-q", theirs, dir)
	own := commit(t, dir, "own")
	git(t, dir, "commit", "-q", "--amend", "-m", "better")
	write(t, filepath.Join(dir, "file.txt"), "kept for later")
	git(t, dir, "stash")
	hash := commit(t, theirs, "theirs")
	git(t, dir, "fetch", "-q")
	worktree := filepath.Join(t.TempDir(), "worktree")
	git(t, dir, "worktree", "add", "-q", worktree)
	c := newChecker(t, Config{})
	for _, x := range []struct {
		name string
		dir  string
		revs string
		want bool
	}{
		{"fetched", dir, "FETCH_HEAD", true},
		{"by its branch", dir, "origin/main", true},
		{"by its hash", dir, hash[:10], true},
		{"a part of it", dir, "FETCH_HEAD~0", true},
		{"what it adds", dir, "main..origin/main", true},
		{"in a worktree", worktree, "origin/main", true},
		{"merged", dir, "origin/old", false},
		{"what is not there yet", dir, "origin/main..HEAD", false},
		{"own", dir, "main", false},
		{"amended", dir, own, false},
		{"a stash", dir, "stash@{0}", false},
		{"no revision", dir, "file.txt", false},
		{"nothing", dir, "", false},
		{"another repository", theirs, "", true},
		{"no repository", t.TempDir(), "FETCH_HEAD", false},
	} {
		foreign, known := c.Foreign(t.Context(), dir, []Revisions{{x.dir, strings.Fields(x.revs)}})
		if foreign != x.want || !known {
			t.Errorf("%s: got %v, known %v, want %v", x.name, foreign, known, x.want)
		}
	}
	checkForeignRunsNothing(t, c, dir)
	lame := NewChecker(Config{Git: "/nonexistent/git"})
	if _, known := lame.Foreign(t.Context(), dir, []Revisions{{dir, []string{"FETCH_HEAD"}}}); known {
		t.Error("without git it is known")
	}
}

// checkForeignRunsNothing has a repository name a program for git to run, and a commit that git would show to it.
func checkForeignRunsNothing(t *testing.T, c *Checker, dir string) {
	t.Helper()
	ran := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "gpg")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch '"+ran+"'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	head, message, _ := strings.Cut(git(t, dir, "cat-file", "commit", "HEAD"), "\n\n")
	signed := head + "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----\n\n" + message + "\n"
	hash := strings.TrimSpace(gitIn(t, dir, signed, "hash-object", "-t", "commit", "-w", "--stdin"))
	git(t, dir, "update-ref", "-m", "sign", "HEAD", hash)
	git(t, dir, "config", "gpg.program", program)
	git(t, dir, "config", "log.showSignature", "true")
	if _, known := c.Foreign(t.Context(), dir, []Revisions{{dir, []string{"origin/main"}}}); !known {
		t.Error("of a repository with a signed commit it is not known")
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program ran that the repository names")
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
	gone, folder := filepath.Join(filepath.Dir(elsewhere), "clone", "gone.md"), filepath.Dir(elsewhere)
	names := []string{
		tracked, loose, elsewhere, link, gone, folder, "~/page.md", dir, filepath.Join(dir, "gone.md"), filepath.Join(dir, "docs"),
		"/api/v1/users", // a pattern
	}
	c := NewChecker(Config{Env: []string{"HOME=" + folder}})
	for _, cwd := range []string{dir, filepath.Join(dir, "docs")} {
		want := Origin{Outside: slices.Sorted(slices.Values([]string{loose, elsewhere, link, gone, folder, "~/page.md"})), Known: true}
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
