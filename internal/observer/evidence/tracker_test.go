package evidence

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cmemd/cmemd/testkit/wait"
	"github.com/google/go-cmp/cmp"
)

func newTracker(t testing.TB, cfg Config) *Tracker {
	t.Helper()
	if cfg.Env == nil {
		cfg.Env = append(os.Environ(), "HOME="+t.TempDir())
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = 20 * time.Second
	}
	return NewTracker(cfg)
}

// sh runs a script in dir, as an agent's shell would, and returns when it ran.
func sh(t testing.TB, dir, script string) RunWindow {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell")
	}
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir, cmd.Env = dir, gitEnv(dir)
	start := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return RunWindow{Start: start, End: time.Now()}
}

// aRepo is a repository with some files, all of them two hours old.
func aRepo(t testing.TB) string {
	t.Helper()
	dir, _ := newRepo(t, 1)
	sh(t, dir, `mkdir -p src gen; echo a >src/a.go; echo b >src/b.go; echo g >gen/g.go; printf 'build/\n*.log\n' >.gitignore
		git add .; git commit -qm files`)
	age(t, dir)
	return dir
}

// age dates all files of dir two hours back, and has git know.
func age(t testing.TB, dir string) {
	t.Helper()
	old := time.Now().Add(-2 * time.Hour)
	for name := range strings.SplitSeq(git(t, dir, "ls-files", "-z", "-c", "-o"), "\x00") {
		if name != "" {
			if err := os.Chtimes(filepath.Join(dir, filepath.FromSlash(name)), old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	git(t, dir, "update-index", "-q", "--refresh")
}

func TestChanges(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, setUp, script string
		want                []string
	}{
		{"nothing", ``, `true`, nil},
		{"sed in a loop", ``, `for f in src/*.go; do sed s/a/x/ $f >tmp; cat tmp >$f; done; rm tmp`, list("src/a.go")},
		{"generator", ``, `echo x >gen/new.go; echo y >gen/g.go`, list("gen/g.go", "gen/new.go")},
		{"deletion", ``, `rm src/b.go`, list("src/b.go")},
		{"move", ``, `mv src/b.go src/c.go`, list("src/b.go", "src/c.go")},
		{"touched only", ``, `touch src/a.go; cat src/b.go >t; cat t >src/b.go; rm t`, nil},
		{"ignored", ``, `mkdir build; echo x >build/out; echo y >x.log`, nil},
		{"dirty before", `echo dirty >src/a.go; echo new >untracked`, `echo z >src/b.go`, list("src/b.go")},
		{"dirty before, changed again", `echo dirty >src/a.go`, `echo dirtier >src/a.go`, list("src/a.go")},
		{"committed by the command", ``, `echo x >src/a.go; echo n >n.go; git add .; git commit -qm gen`, list("n.go", "src/a.go")},
		{"committed twice, amended", ``, `echo x >src/a.go; git commit -qam 1; echo y >src/b.go; git commit -qa --amend -m 2`, list("src/a.go", "src/b.go")},
		{"branch checked out", otherBranch, `git checkout -q other`, nil},
		{"branch checked out, then a generator", otherBranch, `git checkout -q other; echo g2 >gen/g.go`, list("gen/g.go")},
		{"pulled", otherBranch, `git merge -q --ff-only other`, nil},
		{"merged with a commit of its own", otherBranch + `; echo m >m.go; git add m.go; git commit -qm m`, `git merge -q --no-edit other`, nil},
		{"reset", otherBranch + `; git checkout -q other`, `git reset -q --hard main`, nil},
		{"rebuilt in place", ``, `chmod u+w src/a.go; cp src/a.go t; echo more >>t; mv t src/a.go`, list("src/a.go")},
		{"unpacked with an older time", ``, `echo x >src/a.go; touch -d '2001-01-01' src/a.go`, list("src/a.go")},
		{"a name with blanks and no ASCII", ``, `echo x >'src/ä b.go'`, list("src/ä b.go")},
		{"a symbolic link", ``, `ln -s /etc/passwd src/link`, nil},
		{"a repository inside", ``, `git init -q inner; echo x >inner/f`, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir, tracker := aRepo(t), newTracker(t, Config{})
			sh(t, dir, tc.setUp+"\n:")
			age(t, dir)
			tracker.Note(t.Context(), filepath.Join(dir, "src"))
			ran := sh(t, dir, tc.script)
			got := tracker.Changes(t.Context(), dir, []RunWindow{ran})
			var want []string
			for _, w := range tc.want {
				want = append(want, filepath.Join(dir, filepath.FromSlash(w)))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if again := tracker.Changes(t.Context(), dir, []RunWindow{ran}); again != nil {
				t.Errorf("told again: %q", again)
			}
		})
	}
}

// otherBranch is a branch whose commit was made yesterday.
const otherBranch = `git checkout -qb other; echo other >src/a.go; echo o >o.go; git add .
	GIT_COMMITTER_DATE="$(($(date +%s)-86400)) +0000" git commit -qm other; git checkout -q main`

func TestChangesWithoutABaseAreNone(t *testing.T) {
	t.Parallel()
	dir, tracker := aRepo(t), newTracker(t, Config{})
	ran := sh(t, dir, `echo x >src/a.go`)
	if got := tracker.Changes(t.Context(), dir, []RunWindow{ran}); got != nil {
		t.Errorf("nobody looked before, and still %q changed", got)
	}
	ran = sh(t, dir, `echo y >src/b.go`)
	if got := tracker.Changes(t.Context(), dir, []RunWindow{ran}); len(got) != 1 {
		t.Errorf("the question was a look, and %q changed", got)
	}
}

// TestChangesAreThoseOfTheCommand has a person save a file an hour before the command, and another one after it.
func TestChangesAreThoseOfTheCommand(t *testing.T) {
	t.Parallel()
	dir, tracker := aRepo(t), newTracker(t, Config{})
	tracker.Note(t.Context(), dir)
	sh(t, dir, `echo person >src/b.go; rm gen/g.go`)
	tracker.trees[dir].last.at = time.Now().Add(-2 * time.Hour) // that is when it was looked at
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "src", "b.go"), past, past); err != nil {
		t.Fatal(err)
	}
	ran := sh(t, dir, `echo command >src/a.go`)
	if got := tracker.Changes(t.Context(), dir, []RunWindow{{End: ran.End.Add(-90 * time.Minute), Start: ran.Start.Add(-91 * time.Minute)}}); len(got) != 1 {
		t.Errorf("a command before that: %q, want only what vanished in between", got)
	}
	if diff := cmp.Diff(list(filepath.Join(dir, "src", "a.go")), tracker.Changes(t.Context(), dir, []RunWindow{ran})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestChangesOutliveALook: a look of another session between command and question takes nothing away.
func TestChangesOutliveALook(t *testing.T) {
	t.Parallel()
	dir, tracker := aRepo(t), newTracker(t, Config{})
	tracker.Note(t.Context(), dir)
	first := sh(t, dir, `echo 1 >src/a.go`)
	tracker.Changes(t.Context(), dir, []RunWindow{{Start: first.Start.Add(time.Hour)}})
	if got := tracker.Changes(t.Context(), dir, []RunWindow{first}); len(got) != 1 {
		t.Errorf("%q, want src/a.go", got)
	}
}

func TestChangesOfWorktreesAndFolders(t *testing.T) {
	t.Parallel()
	dir, tracker := aRepo(t), newTracker(t, Config{})
	base := resolve(t.TempDir())
	side := filepath.Join(base, "side")
	git(t, dir, "worktree", "add", "-q", "-b", "side", side)
	age(t, side)
	bare := filepath.Join(base, "bare.git")
	git(t, dir, "clone", "-q", "--bare", dir, bare)
	link := filepath.Join(base, "link")
	if err := os.Symlink(side, link); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
	for _, d := range []string{dir, side, bare, base, "", "/nonexistent/for/sure"} {
		tracker.Note(t.Context(), d)
	}
	ran := sh(t, side, `echo x >src/a.go`)
	for _, d := range []string{dir, bare, base, "", "/nonexistent/for/sure"} {
		if got := tracker.Changes(t.Context(), d, []RunWindow{ran}); got != nil {
			t.Errorf("%q: %q changed", d, got)
		}
	}
	want := list(filepath.Join(link, "src", "a.go")) // as the agent knows it
	if diff := cmp.Diff(want, tracker.Changes(t.Context(), filepath.Join(link, "src"), []RunWindow{ran})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestLooksRunNothing plants every program that git could be made to run by a repository's own settings.
func TestLooksRunNothing(t *testing.T) {
	t.Parallel()
	dir, tracker, checker := aRepo(t), newTracker(t, Config{}), newChecker(t, Config{})
	trap := filepath.Join(dir, ".git", "trap")
	sh(t, dir, `cat >.git/run.sh <<'E'
#!/bin/sh
echo "$0 $*" >>"`+trap+`"
cat
E
chmod +x .git/run.sh; for h in post-index-change post-checkout fsmonitor-watchman query-watchman reference-transaction; do cp .git/run.sh .git/hooks/$h; done
run="$PWD/.git/run.sh"
for k in core.fsmonitor core.pager core.editor core.sshCommand core.askPass core.gitProxy diff.external filter.evil.clean filter.evil.smudge filter.evil.process \
	diff.evil.textconv diff.evil.command credential.helper gpg.program alias.ls-files alias.cat-file alias.rev-list pager.rev-list; do git config "$k" "$run"; done
git config alias.diff-tree '!'"$run"; git config log.showSignature true; git config core.hooksPath .git/hooks; git config filter.evil.required true
echo '* filter=evil diff=evil' >.git/info/attributes; rm -f .git/trap`)
	head := git(t, dir, "rev-parse", "HEAD")
	tracker.Note(t.Context(), dir)
	sh(t, dir, `rm -f .git/trap`) // what the test's own commands sprang
	ran := sh(t, dir, `echo racy >src/a.go; echo new >n`)
	if got := tracker.Changes(t.Context(), dir, []RunWindow{ran}); len(got) != 2 {
		t.Errorf("%q changed, want 2", got)
	}
	wantClaim(t, checker.Check(t.Context(), dir, []string{head[:8]})[0], "verified", head)
	if sprung, err := os.ReadFile(trap); err == nil {
		t.Errorf("the repository had programs run:\n%s", sprung)
	}
	sh(t, dir, `git status >/dev/null 2>&1 || :`) // proves that the traps are armed
	if _, err := os.Stat(trap); err != nil {
		t.Errorf("a status springs no trap: %v", err)
	}
}

func TestLooksAreBounded(t *testing.T) {
	t.Parallel()
	t.Run("a git that hangs", func(t *testing.T) {
		t.Parallel()
		fake, dir := fakeGit(t, hang), emptyRepo(t)
		tracker := newTracker(t, Config{Git: fake, Timeout: 200 * time.Millisecond})
		start := time.Now()
		tracker.Note(t.Context(), dir)
		if got := tracker.Changes(t.Context(), dir, []RunWindow{{}}); got != nil || time.Since(start) > time.Minute {
			t.Errorf("%q after %v", got, time.Since(start))
		}
		wait.Until(t, "the hung git to be gone", func() bool { return !alive(t, fake+".pid") })
		if n := starts(t, fake); n != 1 {
			t.Errorf("git was started %d times, want once and then a rest", n)
		}
	})
	t.Run("too many files", func(t *testing.T) {
		t.Parallel()
		fake, dir := fakeGit(t, fmt.Sprintf(`yes a/file | head -n %d | tr '\n' '\0'`, maxEntries+1)), emptyRepo(t)
		tracker := newTracker(t, Config{Git: fake})
		tracker.Note(t.Context(), dir)
		if tr := tracker.trees[dir]; tr.last != nil || time.Until(tr.rest) < restAfter/2 {
			t.Error("a tree that is too large is not left alone")
		}
	})
	t.Run("an endless list", func(t *testing.T) {
		t.Parallel()
		tracker := newTracker(t, Config{Git: fakeGit(t, `exec yes a/file`)})
		tracker.Note(t.Context(), emptyRepo(t))
	})
	t.Run("more changes than are told", func(t *testing.T) {
		t.Parallel()
		dir, tracker := aRepo(t), newTracker(t, Config{})
		tracker.Note(t.Context(), dir)
		ran := sh(t, dir, `i=0; while [ $i -lt 300 ]; do echo x >f$i; i=$((i+1)); done`)
		if got := tracker.Changes(t.Context(), dir, []RunWindow{ran}); len(got) != maxFiles {
			t.Errorf("%d changes told, want %d", len(got), maxFiles)
		}
	})
	t.Run("many trees", func(t *testing.T) {
		t.Parallel()
		tracker := newTracker(t, Config{Git: fakeGit(t, `:`)})
		for range 2 * maxTrees {
			tracker.Note(t.Context(), emptyRepo(t))
		}
		if len(tracker.trees) != maxTrees {
			t.Errorf("%d trees remembered, want %d", len(tracker.trees), maxTrees)
		}
	})
}

// TestOneLookAtATime has git say whether another one runs in the same tree.
func TestOneLookAtATime(t *testing.T) {
	t.Parallel()
	fake, dir := fakeGit(t, `mkdir "$0.lock" 2>/dev/null || echo x >>"$0.twice"; sleep 0.02; rmdir "$0.lock" 2>/dev/null; :`), emptyRepo(t)
	tracker := newTracker(t, Config{Git: fake})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { tracker.Changes(t.Context(), dir, []RunWindow{{}}) })
	}
	wg.Wait()
	if _, err := os.Stat(fake + ".twice"); err == nil {
		t.Error("two looks at one tree at once")
	}
	if n := starts(t, fake); n != 8 {
		t.Errorf("%d looks, want 8", n)
	}
}

func BenchmarkLook(b *testing.B) {
	dir, _ := newRepo(b, 1)
	sh(b, dir, `for d in 0 1 2 3 4 5 6 7 8 9; do mkdir d$d; i=0; while [ $i -lt 900 ]; do : >d$d/f$i; i=$((i+1)); done; done; git add .`)
	tracker := newTracker(b, Config{})
	for b.Loop() {
		tracker.Changes(b.Context(), dir, []RunWindow{{End: time.Unix(1, 0)}})
	}
}
