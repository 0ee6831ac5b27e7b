package evidence

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/race"
	"github.com/cmemd/cmemd/testkit/wait"
)

// TestNoGitOutlivesItsDaemon kills a process whose git is under way and would not end by itself.
func TestNoGitOutlivesItsDaemon(t *testing.T) {
	t.Parallel()
	race.SkipProcesses(t)
	if fake := os.Getenv("EVIDENCE_HANGING_GIT"); fake != "" {
		NewChecker(Config{Git: fake, Timeout: time.Hour}).Check(t.Context(), os.Getenv("EVIDENCE_FOLDER"), []string{full})
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("the system does not end a process with its parent")
	}
	fake, dir := fakeGit(t, "echo $$ >$0.pid\nexec sleep 1000\n"), emptyRepo(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestNoGitOutlivesItsDaemon$")
	cmd.Env = append(os.Environ(), "EVIDENCE_HANGING_GIT="+fake, "EVIDENCE_FOLDER="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "git to be asked", func() bool { return alive(t, fake+".pid") })
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait()
	wait.Until(t, "git to end with the one that asked it", func() bool { return !alive(t, fake+".pid") })
}

// TestCheckAfterARepositoryWasReplaced: what one repository had, another one in its place has not.
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

// TestManyRepositories asks twelve real ones at once through three processes, and leaves none behind.
func TestManyRepositories(t *testing.T) {
	t.Parallel()
	c := newChecker(t, Config{Processes: 3})
	type repo struct{ dir, hash string }
	var repos []repo
	for range 12 {
		dir, hashes := newRepo(t, 1)
		repos = append(repos, repo{dir, hashes[0]})
	}
	var wg sync.WaitGroup
	for _, r := range repos {
		wg.Go(func() {
			for range 3 {
				wantClaim(t, c.Check(t.Context(), r.dir, []string{r.hash[:9]})[0], events.Verified, r.hash)
			}
		})
	}
	wg.Wait()
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
