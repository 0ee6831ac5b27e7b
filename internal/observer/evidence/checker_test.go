package evidence

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/wait"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	dir, hashes := newRepo(t, 2)
	git(t, dir, "tag", "-a", "-m", "release", "v1")
	git(t, dir, "branch", "facade1")
	tag, tree := git(t, dir, "rev-parse", "v1"), git(t, dir, "rev-parse", "HEAD^{tree}")
	blob := git(t, dir, "rev-parse", "HEAD:file.txt")
	c := newChecker(t, Config{})
	for _, tc := range []struct {
		name, hash string
		verdict    events.Verdict
		evidence   string
	}{
		{"abbreviated", hashes[0][:7], events.Verified, hashes[0]},
		{"whole", hashes[1], events.Verified, hashes[1]},
		{"uppercase", strings.ToUpper(hashes[1][:10]), events.Verified, hashes[1]},
		{"annotated tag", tag[:10], events.Verified, hashes[1]},
		{"made up", other(hashes[0]), events.Absent, "no such object"},
		{"made up, whole", other(hashes[0]) + hashes[0][7:], events.Absent, "no such object"},
		{"tree", tree[:12], events.Absent, "a tree"},
		{"blob", blob[:12], events.Absent, "a blob"},
		{"branch of that name", "facade1", events.Unknown, "a reference"},
		{"no hash", "HEAD", events.Unknown, "not a hash"},
		{"no hash, two lines", "abcdef0\n" + hashes[0], events.Unknown, "not a hash"},
		{"too short", "abc", events.Unknown, "not a hash"},
		{"too long", strings.Repeat("a", 65), events.Unknown, "not a hash"},
	} {
		got := c.Check(t.Context(), dir, []string{tc.hash})
		if len(got) != 1 || got[0].Value != tc.hash {
			t.Fatalf("%s: %+v", tc.name, got)
		}
		t.Run(tc.name, func(t *testing.T) { wantClaim(t, got[0], tc.verdict, tc.evidence) })
	}
	if got := c.Check(t.Context(), dir, nil); len(got) != 0 {
		t.Errorf("no hashes, %d claims", len(got))
	}
	all := c.Check(t.Context(), dir, []string{hashes[0], other(hashes[0]), hashes[1]})
	wantClaim(t, all[0], events.Verified, hashes[0])
	wantClaim(t, all[1], events.Absent, "no such object")
	wantClaim(t, all[2], events.Verified, hashes[1])
}

// TestUnreachable: a commit that was amended is still there, and no branch leads to it; one that a tag or a detached HEAD keeps is none.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	dir, hashes := newRepo(t, 2)
	c := newChecker(t, Config{})
	ask := func(want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, c.Unreachable(t.Context(), dir, hashes)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	ask()
	git(t, dir, "commit", "-q", "--amend", "--allow-empty", "-m", "second, amended")
	ask(hashes[1])
	git(t, dir, "checkout", "-q", hashes[1])
	ask()
	git(t, dir, "checkout", "-q", "-")
	ask(hashes[1])
	git(t, dir, "tag", "kept", hashes[1])
	ask()
	if got := c.Unreachable(t.Context(), t.TempDir(), hashes); got != nil {
		t.Errorf("where there is no repository: %v", got)
	}
	if got := c.Unreachable(t.Context(), dir, []string{other(hashes[0]) + hashes[0][7:]}); got != nil {
		t.Errorf("of a commit that there is not: %v", got)
	}
}

// other is a short hash that differs from that of hash in its first digit.
func other(hash string) string {
	if hash[0] == 'f' {
		return "0" + hash[1:7]
	}
	return "f" + hash[1:7]
}

// TestCheckSeesNewCommits: nothing is remembered of what was not there.
func TestCheckSeesNewCommits(t *testing.T) {
	t.Parallel()
	dir, hashes := newRepo(t, 1)
	c := newChecker(t, Config{})
	wantClaim(t, c.Check(t.Context(), dir, []string{hashes[0][:7]})[0], events.Verified, hashes[0])
	loose := commit(t, dir, "later")
	wantClaim(t, c.Check(t.Context(), dir, []string{loose[:7]})[0], events.Verified, loose)
	git(t, dir, "gc", "-q", "--prune=now")
	wantClaim(t, c.Check(t.Context(), dir, []string{loose[:7]})[0], events.Verified, loose)
	packed := commit(t, dir, "after gc")
	git(t, dir, "repack", "-adq")
	wantClaim(t, c.Check(t.Context(), dir, []string{packed[:7]})[0], events.Verified, packed)
}

// TestCheckAmbiguous makes commits until two of them share their first four digits.
func TestCheckAmbiguous(t *testing.T) {
	t.Parallel()
	dir, _ := newRepo(t, 0)
	var in strings.Builder
	for range 1500 {
		in.WriteString("commit refs/heads/main\ncommitter a <a@example.org> 1700000000 +0000\ndata 1\nx\n")
	}
	gitIn(t, dir, in.String(), "fast-import", "--quiet")
	seen := map[string]bool{}
	for hash := range strings.FieldsSeq(git(t, dir, "rev-list", "main")) {
		if short := hash[:4]; seen[short] {
			c := newChecker(t, Config{})
			wantClaim(t, c.Check(t.Context(), dir, []string{short})[0], events.Unknown, "ambiguous")
			wantClaim(t, c.Check(t.Context(), dir, []string{hash[:12]})[0], events.Verified, hash)
			return
		}
		seen[hash[:4]] = true
	}
	t.Fatal("1500 commits and no two with the same four digits")
}

func TestCheckShallow(t *testing.T) {
	t.Parallel()
	dir, hashes := newRepo(t, 3)
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, dir, "clone", "-q", "--depth", "1", "file://"+dir, clone)
	c := newChecker(t, Config{})
	got := c.Check(t.Context(), clone, []string{hashes[2][:8], hashes[0][:8], other(hashes[0])})
	wantClaim(t, got[0], events.Verified, hashes[2])
	wantClaim(t, got[1], events.Unknown, "shallow clone")
	wantClaim(t, got[2], events.Unknown, "shallow clone")
}

// TestCheckNeverFetches: a partial clone would ask its remote for what it lacks.
func TestCheckNeverFetches(t *testing.T) {
	t.Parallel()
	dir, hashes := newRepo(t, 2)
	git(t, dir, "config", "uploadpack.allowFilter", "true")
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, dir, "clone", "-q", "--filter=tree:0", "--no-checkout", "file://"+dir, clone)
	blob := git(t, dir, "rev-parse", "HEAD:file.txt")
	c := newChecker(t, Config{})
	wantClaim(t, c.Check(t.Context(), clone, []string{hashes[0]})[0], events.Verified, hashes[0])
	if got := c.Check(t.Context(), clone, []string{blob})[0]; got.Verdict == events.Verified {
		t.Errorf("%+v", got)
	}
	packs, err := filepath.Glob(filepath.Join(clone, ".git", "objects", "pack", "*.pack"))
	if err != nil || len(packs) != 1 {
		t.Errorf("%d packs after the question, want the one of the clone: it was fetched", len(packs))
	}
}

func TestCheckPlaces(t *testing.T) {
	t.Parallel()
	dir, hashes := newRepo(t, 1)
	base := resolve(t.TempDir())
	worktree, bare := filepath.Join(base, "worktree"), filepath.Join(base, "bare.git")
	git(t, dir, "worktree", "add", "-q", "-b", "side", worktree)
	side := commit(t, worktree, "on the side")
	git(t, dir, "clone", "-q", "--bare", dir, bare)
	sub := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	c := newChecker(t, Config{})
	for _, place := range []string{dir, sub, filepath.Join(sub, "not", "there"), worktree, bare, filepath.Join(bare, "objects")} {
		wantClaim(t, c.Check(t.Context(), place, []string{hashes[0][:9]})[0], events.Verified, hashes[0])
	}
	wantClaim(t, c.Check(t.Context(), dir, []string{side[:9]})[0], events.Verified, side)
	for _, place := range []string{base, "", "/nonexistent/for/sure"} {
		wantClaim(t, c.Check(t.Context(), place, []string{hashes[0]})[0], events.Unknown, "no repository")
	}
	if err := os.RemoveAll(bare); err != nil {
		t.Fatal(err)
	}
	wantClaim(t, c.Check(t.Context(), bare, []string{hashes[0]})[0], events.Unknown, "no repository")
}

// TestCheckIgnoresTheEnvironment: what points git elsewhere is taken out.
func TestCheckIgnoresTheEnvironment(t *testing.T) {
	t.Parallel()
	dir, hashes := newRepo(t, 1)
	elsewhere, _ := newRepo(t, 1)
	env := append(os.Environ(), "HOME="+t.TempDir(), "GIT_DIR="+filepath.Join(elsewhere, ".git"), "GIT_OBJECT_DIRECTORY=/nonexistent")
	c := newChecker(t, Config{Env: env})
	wantClaim(t, c.Check(t.Context(), dir, []string{hashes[0]})[0], events.Verified, hashes[0])
}

// TestCheckForeignOwner: git refuses a repository of somebody else, and that is no verdict.
func TestCheckForeignOwner(t *testing.T) {
	t.Parallel()
	dir, hashes := newRepo(t, 1)
	if runtime.GOOS == "windows" || os.Getuid() != 0 {
		t.Skip("only root can give a repository away")
	}
	for _, name := range []string{dir, filepath.Join(dir, ".git")} {
		if err := os.Chown(name, 12345, 12345); err != nil {
			t.Skipf("cannot give the repository away: %v", err)
		}
	}
	c := newChecker(t, Config{Env: append(os.Environ(), "HOME="+t.TempDir(), "SUDO_UID=0")})
	wantClaim(t, c.Check(t.Context(), dir, []string{hashes[0]})[0], events.Unknown, "git ended: git: fatal: detected dubious ownership")
}

func TestCheckWithoutGit(t *testing.T) {
	t.Parallel()
	dir := emptyRepo(t)
	c := newChecker(t, Config{Git: "no-such-git-program"})
	wantClaim(t, c.Check(t.Context(), dir, []string{"4f2c9d1"})[0], events.Unknown, "git not found")
	c = newChecker(t, Config{Git: filepath.Join(dir, ".git")})
	wantClaim(t, c.Check(t.Context(), dir, []string{"4f2c9d1"})[0], events.Unknown, "git does not start")
}

const (
	answers = `while read -r q; do echo "4f2c9d1e0b7a3c5d6e8f9a0b1c2d3e4f5a6b7c8d commit 200"; done`
	hang    = `sleep 1000 & echo $! >"$0.pid"; wait`
	full    = "4f2c9d1e0b7a3c5d6e8f9a0b1c2d3e4f5a6b7c8d"
)

func TestCheckHungGit(t *testing.T) {
	t.Parallel()
	fake, dir := fakeGit(t, hang), emptyRepo(t)
	c := newChecker(t, Config{Git: fake, Timeout: 300 * time.Millisecond})
	start := time.Now()
	got := c.Check(t.Context(), dir, []string{"4f2c9d1", "9d3e7aa"})
	if took := time.Since(start); took > time.Minute { // it would hang for 1000 s
		t.Errorf("it took %v", took)
	}
	wantClaim(t, got[0], events.Unknown, "timed out")
	wantClaim(t, got[1], events.Unknown, "timed out")
	wait.Until(t, "the hung child and its own child to be gone", func() bool { return !alive(t, fake+".pid") })
}

func TestCheckCancelled(t *testing.T) {
	t.Parallel()
	fake, dir := fakeGit(t, hang), emptyRepo(t)
	c := newChecker(t, Config{Git: fake})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantClaim(t, c.Check(ctx, dir, []string{"4f2c9d1"})[0], events.Unknown, "cancelled")
}

func TestCheckOfABadGit(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, script string
		evidence     string
	}{
		{"dies at its start", `exit 1`, "git ended: exit status 1"},
		{"dies at the question", `read -r q; exit 1`, "git ended: exit status 1"},
		{"dies half-way through a line", `read -r q; printf 4f2c; exit 1`, "git ended: exit status 1"},
		{"dies and says why", `read -r q; echo "hint: 1" >&2; echo "fatal: no luck" >&2; exit 1`, "git ended: git: fatal: no luck"},
		{"says nothing", `exit 0`, "git ended: it did not answer"},
		{"talks nonsense", `while read -r q; do echo "hello world of commits"; done`, "git ended: git answered"},
		{"never ends its line", `while :; do printf xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done`, "git ended: git says too much"},
		{"answers another question", `while read -r q; do echo "0000000 missing"; done`, "git ended: git answered"},
		{"lies about the hash", `while read -r q; do echo "0000000000000000000000000000000000000000 commit 1"; done`, "a reference"},
		{"ambiguous", `while read -r q; do case $q in *commit*) echo "$q missing";; *) echo "$q ambiguous";; esac; done`, "ambiguous"},
		{"ambiguous at once", `while read -r q; do echo "$q ambiguous"; done`, "ambiguous"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			fake, dir := fakeGit(t, tc.script), emptyRepo(t)
			c := newChecker(t, Config{Git: fake})
			wantClaim(t, c.Check(t.Context(), dir, []string{"4f2c9d1"})[0], events.Unknown, tc.evidence)
			if n := starts(t, fake); n != 1 {
				t.Errorf("git was started %d times, want once", n)
			}
		})
	}
}

func TestCheckKeepsWhatItHasWhenGitDies(t *testing.T) {
	t.Parallel()
	fake, dir := fakeGit(t, `read -r q; read -r p; echo "`+full+` commit 1"; echo "`+full+` commit 1"; exit 1`), emptyRepo(t)
	c := newChecker(t, Config{Git: fake})
	got := c.Check(t.Context(), dir, []string{"4f2c9d1", "4f2c9d1e"})
	wantClaim(t, got[0], events.Verified, full)
	wantClaim(t, got[1], events.Unknown, "git ended")
}

// TestCheckManyAtOnce: no more run at once than allowed.
func TestCheckManyAtOnce(t *testing.T) {
	t.Parallel()
	fake := fakeGit(t, `for n in 1 2 over; do mkdir "$0.$n" 2>/dev/null && break; done; `+answers+`; [ $n = over ] || rmdir "$0.$n"`)
	c := newChecker(t, Config{Git: fake, Processes: 2})
	var repos []string
	for range 5 {
		repos = append(repos, emptyRepo(t))
	}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			for _, got := range c.Check(t.Context(), repos[i%len(repos)], []string{"4f2c9d1", "4f2c9d1e"}) {
				wantClaim(t, got, events.Verified, full)
			}
		})
	}
	wg.Wait()
	if _, err := os.Stat(fake + ".over"); err == nil || starts(t, fake) != 20 {
		t.Errorf("%d processes, more than 2 at once: %t", starts(t, fake), err == nil)
	}
}

// alive reports whether the process whose id is in the file still runs; one that was never written does not.
func alive(t *testing.T, file string) bool {
	t.Helper()
	b, err := os.ReadFile(file)
	pid := strings.TrimSpace(string(b))
	if err != nil || pid == "" {
		return false
	}
	stat, err := exec.Command("ps", "-o", "stat=", "-p", pid).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(stat)), "Z")
}

func BenchmarkCheck(b *testing.B) {
	dir, hashes := newRepo(b, 20)
	c := newChecker(b, Config{})
	c.Check(b.Context(), dir, hashes[:1])
	for b.Loop() {
		if got := c.Check(b.Context(), dir, hashes[:1]); got[0].Verdict != events.Verified {
			b.Fatal(got)
		}
	}
}
