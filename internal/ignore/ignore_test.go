package ignore

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestPatterns: each case is a file, and paths below its folder; those with a ! are not ignored, those with / are folders.
func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, paths string }{
		{"", "!a"},
		{"# a", "!a !#"},
		{"\\#a", "#a !a"},
		{"a", "a b/a a/ a/b !ab !ba"},
		{"a/", "a/ b/a/ a/c !a !b/a"},
		{"/a", "a a/b !b/a"},
		{"/a/", "a/ a/x !a"},
		{"a/b", "a/b !c/a/b !b a/b/c"},
		{"/a/b", "a/b !c/a/b"},
		{"*.log", "x.log a/b.log .log !x.logs"},
		{"a*c", "ac abc a*c !a/c !acb"},
		{"a?c", "abc !ac !a/c"},
		{"[ab]c", "ac bc !cc"},
		{"[!ab]c", "cc !ac"},
		{"[^ab]c", "cc !bc"},
		{"[a-c]x", "bx !dx !-x"},
		{"[]-]x", "]x -x !ax"},
		{"[[:digit:]]x", "1x !ax"},
		{"[[:nope:]]x", "!1x !nx"},
		{"[ab", "![ab !a"},
		{"[/[ab]", "a b !c !x/a"},
		{"x[/]", "!x !x/a"},
		{"a\\*", "a* !ab"},
		{"a\\", "!a !a\\"},
		{"a ", "a"},
		{"a\\ ", "!a"},
		{"**/a", "a b/a b/c/a !ab"},
		{"a/**", "a/b a/b/c !a !a/"},
		{"a/**/b", "a/b a/x/b a/x/y/b !b !x/a/b"},
		{"**/a/**", "a/b x/a/b !a"},
		{"a**b", "ab axxb !a/b"},
		{"**", "a a/b"},
		{"*\n!a", "b !a"},
		{"*\n!*/\n!a", "b !c/ c/b !c/a"},
		{"a\n!a/b", "a/b a"},
		{"/*\n!/src/\n", "a !src/ !src/b b/c"},
		{"!a\na", "a"},
		{"/", "!a !a/b"},
		{"//", "!a"},
		{"\uFEFFa", "a"},
		{"a\r\nb\r\n", "a b !c"},
		{"  a", "!a"},
	} {
		dir := filepath.Join(t.TempDir(), "top")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, File), []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, p := range strings.Fields(c.paths) {
			path, not := strings.CutPrefix(p, "!")
			path, folder := strings.CutSuffix(path, "/")
			if got := NewTree(Patterns{}, "").ignored(filepath.Join(dir, path), folder); got == not {
				t.Errorf("%q: %q (folder: %v) got %v", c.file, path, folder, got)
			}
		}
	}
}

// TestAsGitDoes compares with git, where it is installed: files made of what matters, in three folders, and many paths.
func TestAsGitDoes(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	if out, err := exec.Command(git, "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	var paths []string
	names := []string{"a", "b", "ab", "c.d", "a-b", "["}
	for _, x := range names {
		paths = append(paths, x)
		for _, y := range names {
			paths = append(paths, x+"/"+y)
			for _, z := range names {
				paths = append(paths, x+"/"+y+"/"+z)
			}
		}
	}
	piece := rapid.SampledFrom([]string{
		"a", "b", "*", "**", "/", "/", "?", "[ab]", "[!a]", "[a-c]", ".", "c", "d", "-", "\\a", "\\*", "!", "#", " ", "[", "[[:alpha:]]", "\n", "\n!", "\n/",
	})
	// Git says that ** between other characters is a *, and takes it for any number of folders behind a name without others.
	unsure := regexp.MustCompile(`[^/\n*]\*{2,}`)
	file := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 9).Draw(t, "file"), "")
	}).Filter(func(s string) bool { return !unsure.MatchString(s) })
	rapid.Check(t, func(rt *rapid.T) {
		for _, folder := range []string{"", "a", "a/b"} {
			text := []byte(file.Draw(rt, "file of "+folder))
			for _, name := range []string{File, ".gitignore"} {
				if err := os.WriteFile(filepath.Join(dir, folder, name), text, 0o600); err != nil {
					rt.Fatal(err)
				}
			}
		}
		cmd := exec.Command(git, "-c", "core.excludesFile=", "check-ignore", "--no-index", "--stdin", "-z")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(strings.Join(paths, "\x00"))
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
		out, _ := cmd.Output() // 1: none is ignored
		want := map[string]bool{}
		for p := range bytes.SplitSeq(out, []byte{0}) {
			want[string(p)] = true
		}
		tree := NewTree(Patterns{}, "")
		for _, p := range paths {
			info, err := os.Stat(filepath.Join(dir, p))
			if got := tree.ignored(filepath.Join(dir, p), err == nil && info.IsDir()); got != want[p] {
				rt.Fatalf("%s: got %v, git says %v", p, got, want[p])
			}
		}
	})
}

func TestFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name, File)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("whole", "*\n")
	write("some", "*.txt\nprivate/\n")
	write("", "listed/\n")
	if err := os.WriteFile(filepath.Join(dir, "own"), []byte("*.mine\n!*.lost\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tree := NewTree(Parse("/elsewhere/\n*.secret\n*.lost\n"), filepath.Join(dir, "own"))
	for path, want := range map[string]bool{
		"whole": true, "whole/below": true, "some": false, "some/private": true, "some/private/x": true, "some/public": false,
		"listed": true, "x.secret": true, "": false, "x.mine": true, "x.lost": false,
	} {
		if got := tree.Ignored(filepath.Join(dir, path)); got != want {
			t.Errorf("%q: got %v", path, got)
		}
	}
	if !tree.Ignored("/elsewhere/a") || tree.Ignored("elsewhere/a") || tree.Ignored("") {
		t.Error("the patterns of the root count for absolute paths, and others are not known")
	}
	if NewTree(Patterns{}, "").Quiet(dir) || tree.Quiet("/") || !NewTree(Patterns{}, "").Quiet("/") {
		t.Error("it is not told whether patterns count in a folder")
	}
	var none *Tree
	if none.Ignored("/a") || !none.Quiet("/a") {
		t.Error("no tree ignores something")
	}
}

// TestFilesThatCannotBeRead ignore all below them: they may list anything.
func TestFilesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, File), 0o700); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(dir, "large")
	if err := os.Mkdir(large, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(large, File), bytes.Repeat([]byte("a\n"), maxFile), 0o600); err != nil {
		t.Fatal(err)
	}
	tree := NewTree(Patterns{}, "")
	for _, path := range []string{dir + "/x", large + "/x"} {
		if !tree.Ignored(path) {
			t.Errorf("%s is not ignored", path)
		}
	}
}

// TestChangesAreSeen soon, and not before.
func TestChangesAreSeen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Now()
	tree := NewTree(Patterns{}, "")
	tree.now = func() time.Time { return now }
	if tree.Ignored(dir + "/a") {
		t.Fatal("nothing says so")
	}
	if err := os.WriteFile(filepath.Join(dir, File), []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	if tree.Ignored(dir + "/a") {
		t.Error("it was read again at once")
	}
	now = now.Add(maxAge)
	if !tree.Ignored(dir + "/a") {
		t.Error("it was not read again")
	}
	for i := range maxFolders + 10 {
		tree.Ignored(fmt.Sprintf("%s/%d/x", filepath.Dir(dir), i))
	}
	if n := len(tree.folders.known); n > maxFolders {
		t.Errorf("%d folders are remembered", n)
	}
}

func FuzzPatterns(f *testing.F) {
	f.Add("a/**/b\n!*.c", "x/a/b")
	f.Add("[[:alpha:]-z]\\", "a")
	f.Fuzz(func(t *testing.T, file, path string) {
		names := strings.Split(path, "/")
		Parse(file).match(names, false)
		if ignored, decided := Parse(file).match(names, true); ignored && !decided {
			t.Error("it is ignored, and nothing says so")
		}
	})
}

func BenchmarkIgnored(b *testing.B) {
	tree := NewTree(Parse("*.log\nprivate/\n"), "")
	for b.Loop() {
		tree.Ignored("/home/bob/src/shop/internal/orders/orders.go")
	}
}

// TestANameCostsLittle: to look at a name, whatever it is of, takes one allocation.
func TestANameCostsLittle(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there package os looks")
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tree := NewTree(Parse("*.kdbx"), "")
	for _, name := range []string{"file", "missing"} {
		path := filepath.Join(folder, name)
		if n := testing.AllocsPerRun(20, func() { tree.Listed(path) }); n > 1 {
			t.Errorf("%s: %.0f allocations, want 1", name, n)
		}
	}
}
