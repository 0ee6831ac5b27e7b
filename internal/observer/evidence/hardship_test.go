package evidence

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/wait"
)

// TestCheckAfterARepositoryWasReplaced: a child that lives on in a folder that is gone knows nothing of the new one.
func TestCheckAfterARepositoryWasReplaced(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(resolve(t.TempDir()), "work")
	c := newChecker(t, Config{})
	var last string
	for i := range 3 {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		git(t, dir, "init", "-q")
		hash := commit(t, dir, fmt.Sprintf("life %d", i))
		wantClaim(t, c.Check(t.Context(), dir, []string{hash[:8]})[0], events.Verified, hash)
		if last != "" {
			wantClaim(t, c.Check(t.Context(), dir, []string{last[:12]})[0], events.Absent, "no such object")
		}
		last = hash
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		wantClaim(t, c.Check(t.Context(), dir, []string{hash[:8]})[0], events.Unknown, "no repository")
	}
}

// TestCheckAfterObjectsWereReplaced: only what lies in .git is made anew.
func TestCheckAfterObjectsWereReplaced(t *testing.T) {
	t.Parallel()
	dir, hashes := newRepo(t, 1)
	c := newChecker(t, Config{})
	wantClaim(t, c.Check(t.Context(), dir, hashes)[0], events.Verified, hashes[0])
	if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "init", "-q")
	hash := commit(t, dir, "anew")
	wantClaim(t, c.Check(t.Context(), dir, []string{hash[:8]})[0], events.Verified, hash)
	wantClaim(t, c.Check(t.Context(), dir, []string{hashes[0][:12]})[0], events.Absent, "no such object")
}

// TestCheckWhenTheObjectsVanish: a repository of which only the outside is left does not make commits untrue.
func TestCheckWhenTheObjectsVanish(t *testing.T) {
	t.Parallel()
	dir, hashes := newRepo(t, 1)
	c := newChecker(t, Config{})
	wantClaim(t, c.Check(t.Context(), dir, hashes)[0], events.Verified, hashes[0])
	if err := os.RemoveAll(filepath.Join(dir, ".git", "objects")); err != nil {
		t.Fatal(err)
	}
	wantClaim(t, c.Check(t.Context(), dir, hashes)[0], events.Unknown, "")
}

// TestCheckAfterAKilledChild has somebody else end the real git between two questions.
func TestCheckAfterAKilledChild(t *testing.T) {
	t.Parallel()
	dir, hashes := newRepo(t, 1)
	c := newChecker(t, Config{})
	for range 3 {
		wantClaim(t, c.Check(t.Context(), dir, []string{hashes[0][:8]})[0], events.Verified, hashes[0])
		c.mu.Lock()
		for _, r := range c.repos {
			if err := r.child.cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
		}
		c.mu.Unlock()
	}
}

func TestCheckSubmodule(t *testing.T) {
	t.Parallel()
	outer, outerHashes := newRepo(t, 1)
	inner, innerHashes := newRepo(t, 1)
	git(t, outer, "submodule", "add", "-q", "file://"+inner, "vendor/inner")
	sub := filepath.Join(outer, "vendor", "inner")
	c := newChecker(t, Config{})
	wantClaim(t, c.Check(t.Context(), sub, innerHashes)[0], events.Verified, innerHashes[0])
	own := commit(t, sub, "on the submodule")
	wantClaim(t, c.Check(t.Context(), sub, []string{own})[0], events.Verified, own)
	wantClaim(t, c.Check(t.Context(), outer, []string{own})[0], events.Absent, "no such object")
	wantClaim(t, c.Check(t.Context(), outer, outerHashes)[0], events.Verified, outerHashes[0])
}

// TestCheckHuge asks a repository of 60,000 objects, most of them loose references' and a pack's, within the time that
// users have.
func TestCheckHuge(t *testing.T) {
	t.Parallel()
	dir, _ := newRepo(t, 0)
	var in bytes.Buffer
	for i := range 30_000 {
		text := strconv.Itoa(i)
		fmt.Fprintf(&in, "blob\ndata %d\n%s\ncommit refs/heads/main\ncommitter a <a@example.org> %d +0000\ndata %d\n%s\n", len(text), text, 1_700_000_000+i, len(text), text)
	}
	gitIn(t, dir, in.String(), "fast-import", "--quiet")
	hashes := strings.Fields(git(t, dir, "rev-list", "main"))
	if len(hashes) != 30_000 {
		t.Fatalf("%d commits", len(hashes))
	}
	var ask []string
	for i := range maxClaims {
		ask = append(ask, hashes[i*500][:12], other(hashes[i*500])+"0123")
	}
	var wrong []string
	for range 5 { // a busy machine makes one slow, and not all
		start := time.Now()
		wrong = nil
		for i, claim := range newChecker(t, Config{Timeout: 2 * time.Second}).Check(t.Context(), dir, ask) {
			if want := map[bool]events.Verdict{true: events.Verified, false: events.Absent}[i%2 == 0]; claim.Verdict != want {
				wrong = append(wrong, fmt.Sprintf("%s is %s (%s), want %s", claim.Value, claim.Verdict, claim.Evidence, want))
			}
		}
		t.Logf("%d questions to %d commits took %v", len(ask), len(hashes), time.Since(start))
		if len(wrong) == 0 {
			return
		}
	}
	t.Error(strings.Join(wrong, "\n"))
}

// TestManyRepositories asks twelve real ones at once through three children, and leaves none behind.
func TestManyRepositories(t *testing.T) {
	t.Parallel()
	c := NewChecker(Config{Processes: 3, Idle: 100 * time.Millisecond, Timeout: 20 * time.Second, Env: append(os.Environ(), "HOME="+t.TempDir())})
	type repo struct{ dir, hash string }
	var repos []repo
	for range 12 {
		dir, hashes := newRepo(t, 1)
		repos = append(repos, repo{dir, hashes[0]})
	}
	done, most := make(chan int), 0
	for _, r := range repos {
		go func() {
			for range 3 {
				wantClaim(t, c.Check(t.Context(), r.dir, []string{r.hash[:9]})[0], events.Verified, r.hash)
			}
			done <- children(c)
		}()
	}
	for range repos {
		most = max(most, <-done)
	}
	if most > 3 {
		t.Errorf("%d children at once, want at most 3", most)
	}
	wait.Until(t, "idle children to end", func() bool { return children(c) == 0 })
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	wait.Until(t, "no git in any of the repositories", func() bool {
		for _, r := range repos {
			if n := gitsIn(t, r.dir); n > 0 {
				return false
			}
		}
		return true
	})
}

// gitsIn counts processes that run in dir, where the system tells.
func gitsIn(t *testing.T, dir string) (n int) {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil || len(links) == 0 {
		t.Skip("the system does not show the folders of processes")
	}
	for _, l := range links {
		if at, err := os.Readlink(l); err == nil && at == dir {
			n++
		}
	}
	return n
}

// TestNoGitOutlivesItsDaemon kills a process that holds a checker, and has its git end.
func TestNoGitOutlivesItsDaemon(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("EVIDENCE_HOLDS")
	if dir != "" {
		c := NewChecker(Config{})
		fmt.Println("asked", c.Check(t.Context(), dir, []string{"4f2c9d1"})[0].Verdict)
		select {} // until it is killed
	}
	dir, _ = newRepo(t, 1)
	if n := gitsIn(t, dir); n != 0 {
		t.Fatalf("%d processes in a new folder", n)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestNoGitOutlivesItsDaemon$", "-test.v")
	cmd.Env = append(os.Environ(), "EVIDENCE_HOLDS="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan() && !strings.HasPrefix(lines.Text(), "asked absent"); {
	}
	if n := gitsIn(t, dir); n != 1 {
		t.Errorf("%d processes in the repository while it is asked, want 1", n)
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait()
	wait.Until(t, "git to end with the one that asked it", func() bool { return gitsIn(t, dir) == 0 })
}
