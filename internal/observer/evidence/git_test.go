package evidence

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
)

// gitEnv is an environment in which git knows nobody's settings.
func gitEnv(home string) []string {
	return append(scrub(os.Environ()), "HOME="+home, "XDG_CONFIG_HOME="+home, "GIT_CONFIG_NOSYSTEM=1", "GIT_ALLOW_PROTOCOL=file",
		"GIT_AUTHOR_NAME=dev", "GIT_AUTHOR_EMAIL=dev@example.org", "GIT_COMMITTER_NAME=dev", "GIT_COMMITTER_EMAIL=dev@example.org")
}

// git runs git in dir and returns what it prints. Where git is absent, the test is skipped.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	return gitIn(t, dir, "", args...)
}

func gitIn(t testing.TB, dir, stdin string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", "-c", "maintenance.auto=false"}, args...)...)
	cmd.Env = gitEnv(dir)
	cmd.Stdin = strings.NewReader(stdin)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

// newRepo makes a repository with n commits and returns its folder, symbolic links resolved, and the hashes, oldest
// first.
func newRepo(t testing.TB, n int) (dir string, hashes []string) {
	t.Helper()
	dir = resolve(t.TempDir())
	git(t, dir, "init", "-q")
	for i := range n {
		hashes = append(hashes, commit(t, dir, fmt.Sprint(i)))
	}
	return dir, hashes
}

func commit(t testing.TB, dir, text string) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "file.txt"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "add", "file.txt")
	git(t, dir, "commit", "-q", "-m", "commit "+text)
	return git(t, dir, "rev-parse", "HEAD")
}

// newChecker returns a Checker whose children know nobody's settings.
func newChecker(t testing.TB, cfg Config) *Checker {
	t.Helper()
	if cfg.Env == nil {
		cfg.Env = append(os.Environ(), "HOME="+t.TempDir())
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = 20 * time.Second // a busy machine is not what is tested
	}
	return NewChecker(cfg)
}

// fakeGit is a program that answers instead of git: a shell script whose variable N counts its starts.
func fakeGit(t *testing.T, script string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the scripted git is a shell script")
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "git")
	text := "#!/bin/sh\necho x >>" + filepath.Join(dir, "starts") + "\nN=$(wc -l <" + filepath.Join(dir, "starts") + ")\n" + script
	// Another process writes it: a file that this one wrote may be open, for writing, in a child that another test is
	// just starting, and then it cannot be run.
	cmd := exec.Command("sh", "-c", `cat >"$0" && chmod 700 "$0"`, name)
	cmd.Stdin = strings.NewReader(text)
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return name
}

func starts(t *testing.T, fake string) int {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(filepath.Dir(fake), "starts"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(b), "\n")
}

// emptyRepo is enough of a repository for locate; no git is needed for it.
func emptyRepo(t *testing.T) string {
	t.Helper()
	dir := resolve(t.TempDir())
	for _, d := range []string{"objects", "refs/heads"} {
		if err := os.MkdirAll(filepath.Join(dir, ".git", filepath.FromSlash(d)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, ".git", "HEAD"), "ref: refs/heads/main\n")
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// wantClaim checks one claim; evidence need only begin as said.
func wantClaim(t *testing.T, got events.Claim, verdict events.Verdict, evidence string) {
	t.Helper()
	if got.Kind != "commit" || got.Verdict != verdict || !strings.HasPrefix(got.Evidence, evidence) || got.Evidence == "" {
		t.Errorf("%q is %s (%q), want %s (%q...)", got.Value, got.Verdict, got.Evidence, verdict, evidence)
	}
}
