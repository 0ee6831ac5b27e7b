package programs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/programs"
)

func TestPassing(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("TMP", temporary)
	for path, want := range map[string]string{
		"/home/ada/.npm/_npx/0a1b/node_modules/@cmemd/linux-x64/bin/cmemd":       programs.WayNPM,
		"/usr/lib/node_modules/cmemd/node_modules/@cmemd/linux-x64/bin/cmemd":    programs.WayNPM,
		"/tmp/go-build123/b001/exe/cmemd":                                        programs.WayGo,
		"/home/ada/.cache/go-build/ab/" + strings.Repeat("ab", 32) + "-d/cmemd":  programs.WayGo,
		"/var/cache/of/another/name/ab/" + strings.Repeat("cd", 32) + "-d/cmemd": programs.WayGo,
		filepath.Join(temporary, "cmemd_0.1.0_linux_amd64", "cmemd"):             programs.WayArchive,
		"/home/ada/go/bin/cmemd":                                                 "",
		"/opt/homebrew/Cellar/cmemd/0.1.0/bin/cmemd":                             "",
		"/home/ada/.local/share/cmemd/bin/cmemd":                                 "",
		"/home/ada/src/node_modules.old/cmemd":                                   "",
		temporary + "-other/cmemd":                                               "",
	} {
		if way, passing := programs.TransientWay(path); way != want || passing != (want != "") {
			t.Errorf("%s: %q, %v; want %q", path, way, passing, want)
		}
	}
}

// TestExt: a dot in the name of a program begins no extension but .exe; the name of the copy is that which hooks are given.
func TestExt(t *testing.T) {
	t.Parallel()
	for self, want := range map[string]string{
		"/tmp/cmemd": "", "/tmp/cmemd-0.1.0": "", "/tmp/cmemd_0.1.0_linux_amd64": "", "C:/cmemd.exe": ".exe", "C:/CMEMD.EXE": ".exe", "C:/cmemd-0.1.0.exe": ".exe",
	} {
		if got := programs.Ext(self); got != want {
			t.Errorf("%s: got %q, want %q", self, got, want)
		}
	}
	for name, copied := range map[string]string{"cmemd-0.1.0": "cmemd", "cmemd-0.1.0.exe": "cmemd.exe"} {
		home := t.TempDir()
		self := filepath.Join(npmFolder(t, name), name)
		if _, err := programs.Copy(self, home, "0.1.0", at); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]string{copied: name + " 1"}, files(t, programs.Dir(home))); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

// TestStable: hooks are given a name that outlives an update, where one leads to this very program.
func TestStable(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no links")
	}
	t.Setenv("TMPDIR", t.TempDir()) // what is not below it stays
	const brewed = "brew/Cellar/cmemd/0.1.0/bin/cmemd"
	for name, tc := range map[string]struct {
		self  string
		links []string // to self
		other []string // other programs
		path  string
		want  string
	}{
		"no link":                     {self: "a/cmemd", path: "bin", want: "a/cmemd"},
		"a link":                      {self: "a/cmemd", links: []string{"bin/cmemd"}, path: "bin", want: "bin/cmemd"},
		"another one":                 {self: "a/cmemd", other: []string{"bin/cmemd"}, path: "bin", want: "a/cmemd"},
		"another one first":           {self: "a/cmemd", other: []string{"x/cmemd"}, links: []string{"bin/cmemd"}, path: "x:bin", want: "bin/cmemd"},
		"npx's link first":            {self: "a/cmemd", links: []string{"node_modules/.bin/cmemd", "bin/cmemd"}, path: "node_modules/.bin:bin", want: "bin/cmemd"},
		"npx's link":                  {self: "a/cmemd", links: []string{"node_modules/.bin/cmemd"}, path: "node_modules/.bin", want: "a/cmemd"},
		"Homebrew":                    {self: brewed, links: []string{"brew/bin/cmemd", "brew/opt/cmemd/bin/cmemd"}, path: "brew/bin", want: "brew/bin/cmemd"},
		"Homebrew behind another one": {self: brewed, links: []string{"brew/bin/cmemd"}, other: []string{"x/cmemd"}, path: "x", want: "brew/bin/cmemd"},
		"Homebrew, not linked":        {self: brewed, links: []string{"brew/opt/cmemd/bin/cmemd"}, path: "x", want: "brew/opt/cmemd/bin/cmemd"},
		"Homebrew with a newer one":   {self: brewed, other: []string{"brew/bin/cmemd", "brew/opt/cmemd/bin/cmemd"}, path: "x", want: brewed},
	} {
		root := t.TempDir()
		place := func(path string) string {
			path = filepath.Join(root, path)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			return path
		}
		self := place(tc.self)
		write(t, self, "cmemd")
		for _, path := range tc.other {
			write(t, place(path), "another")
		}
		for _, path := range tc.links {
			if err := os.Symlink(self, place(path)); err != nil {
				t.Fatal(err)
			}
		}
		var dirs []string
		for _, dir := range strings.Split(tc.path, ":") {
			dirs = append(dirs, filepath.Join(root, dir))
		}
		t.Setenv("PATH", strings.Join(dirs, ":"))
		if got, want := programs.Stable(self), filepath.Join(root, tc.want); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// npmFolder is a folder as npm unpacks it, with programs of these names.
func npmFolder(t *testing.T, names ...string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "_npx", "0a1b", "node_modules", "@cmemd", "linux-x64", "bin")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		write(t, filepath.Join(dir, name), name+" 1")
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// files are the names and contents of a folder, but for source.json.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == "source.json" {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(b)
	}
	return all
}

var at = time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)

func TestCopy(t *testing.T) {
	t.Parallel()
	from, home := npmFolder(t, "cmemd", "cmemd-hook", "cmemd-sqlite", "other"), t.TempDir()
	self := filepath.Join(from, "cmemd")
	got, err := programs.Copy(self, home, "0.1.0", at)
	if err != nil {
		t.Fatal(err)
	}
	want := programs.Source{Format: 1, Way: programs.WayNPM, Version: "0.1.0", Path: from, Programs: []string{"cmemd-sqlite", "cmemd-hook", "cmemd"}, At: at}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	read, err := programs.ReadSource(programs.Dir(home))
	if diff := cmp.Diff(want, read); diff != "" || err != nil {
		t.Errorf("%v, -want +read:\n%s", err, diff)
	}
	whole := map[string]string{"cmemd": "cmemd 1", "cmemd-hook": "cmemd-hook 1", "cmemd-sqlite": "cmemd-sqlite 1"}
	if diff := cmp.Diff(whole, files(t, programs.Dir(home))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	info, err := os.Stat(filepath.Join(programs.Dir(home), "cmemd"))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}

	if got := programs.Differing(self, home); len(got) != 0 {
		t.Errorf("differing: %v", got)
	}

	// The same again writes nothing: whoever compares times is not told of a newer program.
	if _, err := programs.Copy(self, home, "0.1.0", at.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	again, err := os.Stat(filepath.Join(programs.Dir(home), "cmemd"))
	if read, _ := programs.ReadSource(programs.Dir(home)); err != nil || !os.SameFile(info, again) || !again.ModTime().Equal(info.ModTime()) || !read.At.Equal(at) {
		t.Errorf("written again: %v, %v, %v", again, read, err)
	}

	// A newer one takes its place.
	write(t, filepath.Join(from, "cmemd-hook"), "cmemd-hook 2")
	if diff := cmp.Diff([]string{"cmemd-hook"}, programs.Differing(self, home)); diff != "" {
		t.Errorf("-want +differing:\n%s", diff)
	}
	if _, err := programs.Copy(self, home, "0.2.0", at); err != nil {
		t.Fatal(err)
	}
	whole["cmemd-hook"] = "cmemd-hook 2"
	if diff := cmp.Diff(whole, files(t, programs.Dir(home))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if read, err := programs.ReadSource(programs.Dir(home)); err != nil || read.Version != "0.2.0" {
		t.Errorf("%+v, %v", read, err)
	}
}

// TestCopyOfAnOlderVersion: newer programs stay as they are, unless the newer cmemd is gone or nobody can say which is the older.
func TestCopyOfAnOlderVersion(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		kept, version string
		gone          bool // the cmemd that is kept was removed
		newer         string
	}{
		{kept: "0.10.0", version: "0.9.1", newer: "0.10.0"},
		{kept: "0.10.0", version: "0.9.1", gone: true},
		{kept: "0.10.0", version: "0.10.0-rc.1", newer: "0.10.0"},
		{kept: "0.10.0", version: "0.10.0"},
		{kept: "0.9.1", version: "0.10.0"},
		{kept: "0.10.0", version: "dev"},
		{kept: "dev", version: "0.10.0"},
	} {
		from, home := npmFolder(t, "cmemd", "cmemd-hook"), t.TempDir()
		self := filepath.Join(from, "cmemd")
		if _, err := programs.Copy(self, home, tc.kept, at); err != nil {
			t.Fatal(err)
		}
		if tc.gone {
			if err := os.Remove(filepath.Join(programs.Dir(home), "cmemd")); err != nil {
				t.Fatal(err)
			}
		}
		write(t, filepath.Join(from, "cmemd-hook"), "another")
		if got := programs.Newer(self, home, tc.version); got != tc.newer {
			t.Errorf("%+v: newer is %q", tc, got)
		}
		want, version := "another", tc.version
		if tc.newer != "" {
			want, version = "cmemd-hook 1", tc.kept
		}
		_, err := programs.Copy(self, home, tc.version, at)
		s, _ := programs.ReadSource(programs.Dir(home))
		if got := files(t, programs.Dir(home))["cmemd-hook"]; got != want || s.Version != version || errors.Is(err, programs.ErrNewer) != (tc.newer != "") {
			t.Errorf("%+v: %q of %s, %v; want %q of %s", tc, got, s.Version, err, want, version)
		}
	}
}

// TestCopyOfTheCommandAlone: of half an installation there is half a copy, which says so.
func TestCopyOfTheCommandAlone(t *testing.T) {
	t.Parallel()
	from, home := npmFolder(t, "cmemd-linux"), t.TempDir()
	got, err := programs.Copy(filepath.Join(from, "cmemd-linux"), home, "0.1.0", at)
	if diff := cmp.Diff([]string{"cmemd"}, got.Programs); diff != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
	if diff := cmp.Diff(map[string]string{"cmemd": "cmemd-linux 1"}, files(t, programs.Dir(home))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestCopyFromItself: the copy that runs later says what is written of it, and leaves all as it is.
func TestCopyFromItself(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	want, err := programs.Copy(filepath.Join(npmFolder(t, "cmemd", "cmemd-hook"), "cmemd"), home, "0.1.0", at)
	if err != nil {
		t.Fatal(err)
	}
	got, err := programs.Copy(filepath.Join(programs.Dir(home), "cmemd"), home, "0.1.0", at.Add(time.Hour))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
}

// TestCopyThatCannot has something in the way of one program: the others are whole, nothing is left beside them, and nothing says that
// they were copied.
func TestCopyThatCannot(t *testing.T) {
	t.Parallel()
	from, home := npmFolder(t, "cmemd", "cmemd-hook"), t.TempDir()
	if err := os.MkdirAll(filepath.Join(programs.Dir(home), "cmemd", "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := programs.Copy(filepath.Join(from, "cmemd"), home, "0.1.0", at); err == nil {
		t.Error("a folder was replaced")
	}
	if _, err := programs.ReadSource(programs.Dir(home)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("source.json: %v", err)
	}
	entries, _ := os.ReadDir(programs.Dir(home))
	if len(entries) != 2 {
		t.Errorf("left %v", entries)
	}
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "a file where the home should be")
	if _, err := programs.Copy(filepath.Join(from, "cmemd"), file, "0.1.0", at); err == nil {
		t.Error("copied below a file")
	}
	if _, err := programs.Copy(filepath.Join(from, "nothing"), t.TempDir(), "0.1.0", at); err == nil {
		t.Error("copied what is not there")
	}
}

func TestReadSource(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want error
	}{
		"nothing there": {"", fs.ErrNotExist},
		"half a file":   {`{"format": 1, "way": "np`, programs.ErrSource},
		"a newer one":   {`{"format": 2, "way": "npm"}`, programs.ErrSource},
		"no format":     {`{}`, programs.ErrSource},
		"long":          {strings.Repeat(" ", 65<<10), nil},
	} {
		dir := t.TempDir()
		if tc.text != "" {
			write(t, filepath.Join(dir, "source.json"), tc.text)
		}
		s, err := programs.ReadSource(dir)
		if err == nil || tc.want != nil && !errors.Is(err, tc.want) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}
