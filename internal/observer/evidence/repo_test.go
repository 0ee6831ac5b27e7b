package evidence

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func diffRepo(want, got Repo) string { return cmp.Diff(want, got, cmpopts.IgnoreUnexported(Repo{})) }

func TestRepo(t *testing.T) {
	t.Parallel()
	dir, hashes := newRepo(t, 2)
	git(t, dir, "remote", "add", "fork", "https://dev:secret@example.org/fork.git")
	c := newChecker(t, Config{Git: "must-not-be-asked"})
	at := func(where string, want Repo) {
		t.Helper()
		if got, ok := c.Repo(t.Context(), where); !ok || diffRepo(want, got) != "" {
			t.Errorf("%s: %t (-want +got):\n%s", where, ok, diffRepo(want, got))
		}
	}
	common := filepath.Join(dir, ".git")
	want := Repo{Root: dir, CommonDir: common, Branch: "main", Head: hashes[1]}
	at(dir, want)
	git(t, dir, "remote", "add", "origin", "git@example.org:team/parser.git")
	sub := filepath.Join(dir, "cmd", "x")
	if err := os.MkdirAll(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	at(sub, want)
	git(t, dir, "pack-refs", "--all")
	at(dir, want)
	worktree := filepath.Join(resolve(t.TempDir()), "side")
	git(t, dir, "worktree", "add", "-q", "-b", "topic/side", worktree)
	side := commit(t, worktree, "side")
	at(worktree, Repo{Root: worktree, CommonDir: common, Branch: "topic/side", Head: side})
	at(dir, want)
	git(t, dir, "checkout", "-q", "--detach", hashes[0])
	want.Branch, want.Head = "", hashes[0]
	at(dir, want)
	bare := filepath.Join(resolve(t.TempDir()), "parser.git")
	git(t, worktree, "clone", "-q", "--bare", dir, bare)
	at(bare, Repo{Root: bare, CommonDir: bare, Head: hashes[0]})
	empty, _ := newRepo(t, 0)
	at(empty, Repo{Root: empty, CommonDir: filepath.Join(empty, ".git"), Branch: "main"})
	if _, ok := c.Repo(t.Context(), t.TempDir()); ok {
		t.Error("a repository where there is none")
	}
	if _, ok := c.Repo(t.Context(), ""); ok {
		t.Error("a repository of no folder")
	}
}

// TestRepoAsksGit is for repositories whose files do not tell: references in tables.
func TestRepoAsksGit(t *testing.T) {
	t.Parallel()
	dir := emptyRepo(t)
	write(t, filepath.Join(dir, ".git", "HEAD"), "ref: refs/heads/.invalid\n")
	for _, tc := range []struct{ script, branch, head string }{
		{`echo ` + full + `; echo refs/heads/main`, "main", full},
		{`echo ` + full + `; echo HEAD`, "", full},
		{`exit 128`, "", ""},
	} {
		c := newChecker(t, Config{Git: fakeGit(t, tc.script)})
		got, ok := c.Repo(t.Context(), dir)
		want := Repo{Root: dir, CommonDir: filepath.Join(dir, ".git"), Branch: tc.branch, Head: tc.head}
		if diff := diffRepo(want, got); !ok || diff != "" {
			t.Errorf("%s: %t (-want +got):\n%s", tc.script, ok, diff)
		}
	}
}

// TestRepoOfHostileFiles: a repository's files are somebody's input.
func TestRepoOfHostileFiles(t *testing.T) {
	t.Parallel()
	c := newChecker(t, Config{Git: "must-not-be-asked"})
	for name, head := range map[string]string{
		"outside":   "ref: refs/heads/../../../secret\n",
		"absolute":  "ref: /etc/passwd\n",
		"loop":      "ref: refs/heads/loop\n",
		"no hash":   "hello\n",
		"very long": strings.Repeat("x", 1<<20),
		"empty":     "",
	} {
		dir := emptyRepo(t)
		write(t, filepath.Join(dir, ".git", "HEAD"), head)
		write(t, filepath.Join(dir, ".git", "refs", "heads", "loop"), "ref: refs/heads/loop\n")
		write(t, filepath.Join(dir, "secret"), full+"\n")
		if got, ok := c.Repo(t.Context(), dir); !ok || got.Head != "" {
			t.Errorf("%s: %+v, %t", name, got, ok)
		}
	}
	dir := resolve(t.TempDir())
	write(t, filepath.Join(dir, ".git"), "gitdir: /nonexistent\n")
	if got, ok := c.Repo(t.Context(), dir); ok {
		t.Errorf("a .git that leads nowhere is a repository: %+v", got)
	}
}

func TestRemoteOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ config, want string }{
		{"[remote \"origin\"]\n\turl = https://example.org/a.git\n", "https://example.org/a.git"},
		{"[remote \"origin\"]\n\tURL=\"https://user:pw@example.org/a.git\"\n", "https://example.org/a.git"},
		{"[remote \"origin\"]\n\turl = https://ghp_token@example.org/a.git\n", "https://example.org/a.git"},
		{"[remote \"origin\"]\n\turl = https://user:p%zz@example.org/a\n", "https://example.org/a"},
		{"[remote \"origin\"]\n\turl = ssh://git:pw@example.org/a\n", "ssh://git@example.org/a"},
		{"[remote \"origin\"]\n\turl = git@example.org:a.git\n", "git@example.org:a.git"},
		{"[remote \"x\"]\n\turl = /x\n[branch \"origin\"]\n\turl = /no\n[remote \"origin\"]\n\turl = /o\n", "/o"},
		{"[remote \"x\"]\n\turl = /x\n[remote \"y\"]\n\turl = /y\n", "/x"},
		{"[core]\n\turl = /no\n", ""},
		{"", ""},
	} {
		file := filepath.Join(t.TempDir(), "config")
		write(t, file, tc.config)
		if got := remoteOf(file); got != tc.want {
			t.Errorf("%q: %q, want %q", tc.config, got, tc.want)
		}
	}
	if got := remoteOf(filepath.Join(t.TempDir(), "none")); got != "" {
		t.Errorf("no file: %q", got)
	}
}

func BenchmarkRepo(b *testing.B) {
	dir, _ := newRepo(b, 3)
	git(b, dir, "pack-refs", "--all")
	c := newChecker(b, Config{})
	for b.Loop() {
		if _, ok := c.Repo(b.Context(), dir); !ok {
			b.Fatal("no repository")
		}
	}
}
